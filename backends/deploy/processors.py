"""The processing systems of Zynq parts in Vivado's words: their block, its ports to memory, its clock."""

from __future__ import annotations

from backends.devices import Device


def is_zynq7(device: Device) -> bool:
    """Whether the device is a Zynq-7000; else one with a processor is of the UltraScale+ kind."""
    return device.family == "zynq7"


def processor(device: Device, mhz: str) -> dict[str, str]:
    """What the script of a block design says of the processing system.

    Args:
        device: with the processor.
        mhz: of the clock of the logic.
    """
    if is_zynq7(device):
        config = {
            "PCW_USE_M_AXI_GP0": "1",
            **{f"PCW_USE_S_AXI_HP{n}": "1" for n in range(4)},
            "PCW_FPGA0_PERIPHERAL_FREQMHZ": mhz,
            "PCW_EN_CLK0_PORT": "1",
        }
        return {
            "PS": "processing_system7",
            "EXTERNAL": " make_external {FIXED_IO, DDR}",
            "FIXED": " else {\n        apply_bd_automation -rule xilinx.com:bd_rule:processing_system7"
            " -config {make_external {FIXED_IO, DDR} apply_board_preset 0} $ps\n    }",
            "CONFIG": _listed(config),
            "CONTROL": "M_AXI_GP0",
            "PORTS": " ".join(f"S_AXI_HP{n}" for n in range(4)),
        }
    config = {
        "PSU__USE__M_AXI_GP0": "1",
        "PSU__USE__M_AXI_GP1": "0",
        **{f"PSU__USE__S_AXI_GP{n}": "1" for n in range(2, 6)},
        "PSU__FPGA_PL0_ENABLE": "1",
        "PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ": mhz,
    }
    return {
        "PS": "zynq_ultra_ps_e",
        "EXTERNAL": "",
        "FIXED": "",
        "CONFIG": _listed(config),
        "CONTROL": "M_AXI_HPM0_FPD",
        "PORTS": " ".join(f"S_AXI_HP{n}_FPD" for n in range(4)),
    }


def _listed(config: dict[str, str]) -> str:
    return " ".join(f"CONFIG.{name} {{{value}}}" for name, value in config.items())
