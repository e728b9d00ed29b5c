/** Sysctls that affect only the pod itself, by the minor version that declared them safe. */
export const SAFE_SYSCTLS: readonly string[] = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ping_group_range",
  "net.ipv4.tcp_syncookies",
];

export const SAFE_SYSCTLS_27: readonly string[] = [...SAFE_SYSCTLS, "net.ipv4.ip_local_reserved_ports"];

export const SAFE_SYSCTLS_29: readonly string[] = [
  ...SAFE_SYSCTLS_27,
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_keepalive_time",
];

export const SAFE_SYSCTLS_32: readonly string[] = [
  ...SAFE_SYSCTLS_29,
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_wmem",
];
