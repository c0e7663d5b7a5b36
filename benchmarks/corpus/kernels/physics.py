"""Particles, statistics and finance: all pairs, clusters, estimates."""

import numpy as np

import weft
from weft import f32, u8

P = 64
POINTS, DIMS, CLUSTERS = 256, 4, 8
# Kernels whose expert computes something else that comes to the same: no schedule says that.
OTHER_ALGORITHM = {
    "kalman_scalar": "(1 - gain) * grown is r * gain",
}


@weft.kernel
def nbody_forces(pos: f32[P, 3], mass: f32[P], acc: f32[P, 3]):
    for i in range(P):
        ax: f32 = 0.0
        ay: f32 = 0.0
        az: f32 = 0.0
        for j in range(P):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            square = dx * dx + dy * dy + dz * dz + 0.01
            pull = mass[j] / (square * weft.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        acc[i, 0] = ax
        acc[i, 1] = ay
        acc[i, 2] = az


@weft.kernel
def nbody_forces_expert(pos: f32[P, 3], mass: f32[P], acc: f32[P, 3]):
    # The sums of all particles in turn, so that none waits for itself.
    for i in range(P):
        for d in range(3):
            acc[i, d] = 0.0
    for j in range(P):
        for i in range(P):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            square = dx * dx + dy * dy + dz * dz + 0.01
            pull = mass[j] / (square * weft.sqrt(square))
            acc[i, 0] += pull * dx
            acc[i, 1] += pull * dy
            acc[i, 2] += pull * dz


@nbody_forces_expert.schedule
def expert(s):
    s.split("S0.i", 4)
    s.pipeline("S0.i_0")
    s.split("S1.i", 4)
    s.pipeline("S1.i_0")
    s.bind_storage("pos", "ram_2p")
    s.partition("pos", 0, "cyclic", 4)
    s.partition("pos", 1, "complete")
    s.partition("acc", 0, "cyclic", 4)
    s.partition("acc", 1, "complete")


@weft.kernel
def lennard_jones_energy(pos: f32[P, 3], energy: f32[1]):
    total: f32 = 0.0
    for i in range(1, P):
        for j in range(i):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            inverse = 1.0 / (dx * dx + dy * dy + dz * dz + 0.5)
            cubed = inverse * inverse * inverse
            total += cubed * (cubed - 1.0)
    energy[0] = total


@weft.kernel
def lennard_jones_energy_expert(pos: f32[P, 3], energy: f32[1]):
    # All pairs, half of them for nothing: four start in each cycle, and nothing starts anew.
    total: f32 = 0.0
    for i in range(P):
        for j in range(P):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            inverse = 1.0 / (dx * dx + dy * dy + dz * dz + 0.5)
            cubed = inverse * inverse * inverse
            total += cubed * (cubed - 1.0) if j < i else 0.0
    energy[0] = total


@lennard_jones_energy_expert.schedule
def expert(s):
    s.partial_sums("S6", "i", 16)
    s.reorder(["j", "i"])
    s.split("i", 16)
    s.pipeline("i_0", ii=4)
    s.unroll("S6_init.part")
    s.bind_storage("pos", "ram_2p")
    s.partition("total_part", 0, "complete")
    s.partition("pos", 0, "cyclic", 16)
    s.partition("pos", 1, "complete")


@weft.kernel
def particle_push(dt: f32, x: f32[POINTS, 2], v: f32[POINTS, 2], field: f32[2]):
    for i in range(POINTS):
        for d in range(2):
            v[i, d] += dt * field[d]
            moved: f32 = x[i, d] + dt * v[i, d]
            x[i, d] = moved - 1.0 if moved > 1.0 else moved


@particle_push.schedule
def expert(s):
    s.split("i", 32)
    s.pipeline("i_0", ii=4)
    s.partition("x", 0, "cyclic", 32)
    s.partition("x", 1, "complete")
    s.partition("v", 0, "cyclic", 32)
    s.partition("v", 1, "complete")
    s.partition("field", 0, "complete")


@weft.kernel
def nearest_cluster(x: f32[POINTS, DIMS], centre: f32[CLUSTERS, DIMS], label: u8[POINTS]):
    for n in range(POINTS):
        best: f32 = 1.0e30
        where: u8 = 0
        for k in range(CLUSTERS):
            distance: f32 = 0.0
            for d in range(DIMS):
                distance += (x[n, d] - centre[k, d]) * (x[n, d] - centre[k, d])
            where = k if distance < best else where
            best = min(best, distance)
        label[n] = where


@nearest_cluster.schedule
def expert(s):
    s.pipeline("n", ii=2)
    s.partition("x", 1, "complete")
    s.partition("centre", 0, "complete")
    s.partition("centre", 1, "complete")


@weft.kernel
def cluster_sums(x: f32[POINTS, DIMS], label: u8[POINTS], sums: f32[CLUSTERS, DIMS]):
    for k, d in weft.grid(CLUSTERS, DIMS):
        sums[k, d] = 0.0
    for n in range(POINTS):
        for k in range(CLUSTERS):
            for d in range(DIMS):
                sums[k, d] += x[n, d] if label[n] % CLUSTERS == k else 0.0


@cluster_sums.schedule
def expert(s):
    s.partial_sums("S1", "n", 4)
    s.split("n", 4)
    s.pipeline("n_0", ii=3)
    s.unroll("S0.k")
    s.pipeline("S1_sum.d")
    s.unroll("S1_init.k")
    s.partition("x", 0, "cyclic", 4)
    s.partition("x", 1, "complete")
    s.partition("label", 0, "cyclic", 4)
    s.partition("sums", 0, "complete")
    s.partition("sums", 1, "complete")
    for d in range(3):
        s.partition("sums_part", d, "complete")


@weft.kernel
def distance_matrix(x: f32[P, 8], out: f32[P, P]):
    for i in range(P):
        for j in range(P):
            total: f32 = 0.0
            for d in range(8):
                total += (x[i, d] - x[j, d]) * (x[i, d] - x[j, d])
            out[i, j] = weft.sqrt(total)


@distance_matrix.schedule
def expert(s):
    s.split("j", 8)
    s.pipeline("j_0", ii=3)
    s.partition("x", 0, "cyclic", 8)
    s.partition("x", 1, "complete")
    s.partition("out", 1, "cyclic", 8)


@weft.kernel
def covariance(x: f32[POINTS, DIMS], cov: f32[DIMS, DIMS]):
    mean: f32[DIMS]
    for a in range(DIMS):
        mean[a] = 0.0
        for n in range(POINTS):
            mean[a] += x[n, a]
        mean[a] = mean[a] / POINTS
    for a in range(DIMS):
        for b in range(a + 1):
            total: f32 = 0.0
            for n in range(POINTS):
                total += (x[n, a] - mean[a]) * (x[n, b] - mean[b])
            cov[a, b] = total / (POINTS - 1)
            cov[b, a] = cov[a, b]


@weft.kernel
def covariance_expert(x: f32[POINTS, DIMS], cov: f32[DIMS, DIMS]):
    # Two passes over the points, with the sums of all variables and of all pairs at once.
    mean: f32[DIMS]
    total: f32[DIMS, DIMS]
    for a in range(DIMS):
        mean[a] = 0.0
    for n in range(POINTS):
        for a in range(DIMS):
            mean[a] += x[n, a]
    for a in range(DIMS):
        mean[a] *= 1.0 / POINTS
        for b in range(DIMS):
            total[a, b] = 0.0
    for n in range(POINTS):
        for a, b in weft.grid(DIMS, DIMS):
            if b <= a:
                total[a, b] += (x[n, a] - mean[a]) * (x[n, b] - mean[b])
    for a in range(DIMS):
        for b in range(DIMS):
            if b <= a:
                scaled: f32 = total[a, b] * (1.0 / (POINTS - 1))
                cov[a, b] = scaled
                cov[b, a] = scaled


@covariance_expert.schedule
def expert(s):
    s.partial_sums("S1", "S1.n", 8)
    s.partial_sums("S4", "S4.n", 8)
    s.split("S1.n", 8)
    s.pipeline("S1.n_0", ii=3)
    s.split("S4.n", 8)
    s.pipeline("S4.n_0", ii=3)
    s.unroll("S0.a")
    s.pipeline("S1_init.a")
    s.pipeline("S1_sum.a")
    s.pipeline("S4_init.b")
    s.pipeline("S4_sum.b")
    s.pipeline("S5.a")
    for array in ("mean", "total"):
        s.partition(array, 0, "complete")
    s.partition("total", 1, "complete")
    s.partition("x", 0, "cyclic", 8)
    s.partition("x", 1, "complete")
    for d in range(2):
        s.partition("mean_part", d, "complete")
    for d in range(3):
        s.partition("total_part", d, "complete")


@weft.kernel
def option_prices(spot: f32[POINTS], strike: f32[POINTS], price: f32[POINTS]):
    for i in range(POINTS):
        d: f32 = (weft.log(spot[i] / strike[i]) + 0.05) / 0.2
        t: f32 = 1.0 / (1.0 + 0.2316419 * abs(d))
        tail: f32 = t * (
            0.3193815 + t * (-0.3565638 + t * (1.7814779 + t * (-1.8212560 + t * 1.330274)))
        )
        below: f32 = 0.3989423 * weft.exp(-0.5 * d * d) * tail
        price[i] = spot[i] * (1.0 - below if d > 0.0 else below)


@option_prices.schedule
def expert(s):
    s.split("i", 4)
    s.pipeline("i_0", ii=2)
    for array in ("spot", "strike", "price"):
        s.partition(array, 0, "cyclic", 4)


@weft.kernel
def pagerank(M: f32[P, P], rank: f32[P]):
    for _ in range(4):
        next: f32[P]
        for i in range(P):
            next[i] = 0.15 / P
            for j in range(P):
                next[i] += 0.85 * M[i, j] * rank[j]
        for i in range(P):
            rank[i] = next[i]


@pagerank.schedule
def expert(s):
    s.partial_sums("S1", "j", 8)
    s.pipeline("S0.i", ii=4)
    s.unroll("S2.i")
    s.partition("next_part", 1, "complete")
    s.partition("M", 1, "complete")
    s.partition("rank", 0, "complete")
    s.partition("next", 0, "complete")


@weft.kernel
def kalman_scalar(q: f32, r: f32, z: f32[POINTS], x: f32[POINTS]):
    state: f32 = 0.0
    spread: f32 = 1.0
    for n in range(POINTS):
        grown = spread + q
        gain = grown / (grown + r)
        state = state + gain * (z[n] - state)
        spread = (1.0 - gain) * grown
        x[n] = state


@weft.kernel
def kalman_scalar_expert(q: f32, r: f32, z: f32[POINTS], x: f32[POINTS]):
    # (1 - gain) * grown is r * gain: a sum, a quotient and a product to wait for.
    state: f32 = 0.0
    spread: f32 = 1.0
    both = q + r
    for n in range(POINTS):
        gain = (spread + q) / (spread + both)
        state = state + gain * (z[n] - state)
        spread = r * gain
        x[n] = state


@kalman_scalar_expert.inputs
def noise_again(kernel, seed):
    return {"q": 0.01, "r": 0.5}


@kalman_scalar_expert.schedule
def expert(s):
    s.pipeline("n")


@option_prices.inputs
def prices(kernel, seed):
    rng = np.random.default_rng(seed)
    return {"spot": rng.uniform(50, 150, POINTS), "strike": rng.uniform(50, 150, POINTS)}


@kalman_scalar.inputs
def noise(kernel, seed):
    return {"q": 0.01, "r": 0.5}
