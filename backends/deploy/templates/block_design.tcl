# Builds @TOP@.bit and @TOP@.hwh for @BOARD@ in Vivado: the kernel as an IP block beside the processing system.
#
#   vivado -mode batch -source block_design.tcl
#
# The IP is what `make export` of the project above has left in hls/solution1/impl/ip. Each memory port of the kernel
# goes to a port of the processing system's memory, its registers to a port of the processor. BOARD_PART in the
# environment names another release of the board's files; where there are none, the part alone is used.

set here [file dirname [file normalize [info script]]]
set part @PART@
set board_part @BOARDPART@
if {[info exists ::env(BOARD_PART)]} { set board_part $::env(BOARD_PART) }
set period_mhz @MHZ@
set bundles {@BUNDLES@}
set ip_folder [file join $here .. hls solution1 impl ip]

set status [catch {
    if {![file isdirectory $ip_folder]} { error "$ip_folder is not there: run `make export` first" }
    create_project -force -part $part board [file join $here build vivado]
    if {[llength [get_board_parts -quiet $board_part]]} {
        set_property board_part $board_part [current_project]
    } else {
        puts "block_design.tcl: no board files of $board_part: the part $part alone is used"
    }
    set_property ip_repo_paths [list $ip_folder] [current_project]
    update_ip_catalog
    create_bd_design system

    set ps [create_bd_cell -type ip -vlnv [lindex [get_ipdefs -all -filter {NAME == @PS@}] end] ps]
    if {[llength [get_board_parts -quiet $board_part]]} {
        apply_bd_automation -rule xilinx.com:bd_rule:@PS@ -config {apply_board_preset 1@EXTERNAL@} $ps
    }@FIXED@
    set_property -dict [list @CONFIG@] $ps

    create_bd_cell -type ip -vlnv [lindex [get_ipdefs -all -filter {NAME == @TOP@}] end] @TOP@_0
    apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config {
        Master /ps/@CONTROL@ Slave /@TOP@_0/s_axi_control
        Clk_master Auto Clk_slave Auto Clk_xbar Auto intc_ip Auto master_apm 0
    } [get_bd_intf_pins @TOP@_0/s_axi_control]
    set ports {@PORTS@}
    set n 0
    foreach bundle $bundles {
        set port [lindex $ports [expr {$n % [llength $ports]}]]
        set slave [get_bd_intf_pins ps/$port]
        set master /@TOP@_0/m_axi_$bundle
        apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config [list \
            Master $master Slave /ps/$port Clk_master Auto Clk_slave Auto Clk_xbar Auto \
            intc_ip Auto master_apm 0] $slave
        incr n
    }
    assign_bd_address
    validate_bd_design
    save_bd_design

    set design [get_files system.bd]
    add_files -norecurse [make_wrapper -files $design -top]
    set_property top system_wrapper [current_fileset]
    launch_runs impl_1 -to_step write_bitstream -jobs 4
    wait_on_run impl_1
    if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} { error "the implementation failed" }
    set folder [file join $here build vivado]
    foreach {pattern name} {
        board.runs/impl_1/system_wrapper.bit @TOP@.bit
        board.gen/sources_1/bd/system/hw_handoff/system.hwh @TOP@.hwh
        board.srcs/sources_1/bd/system/hw_handoff/system.hwh @TOP@.hwh
    } {
        set file [file join $folder $pattern]
        if {[file exists $file]} { file copy -force $file [file join $here $name] }
    }
    open_run impl_1
    report_utilization -file [file join $here utilization.rpt]
    report_timing_summary -file [file join $here timing.rpt]
    close_project
} message]
if {$status} {
    puts stderr "block_design.tcl: $message"
    exit 1
}
exit 0
