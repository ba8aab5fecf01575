// Settings of the embedded server, passed on its command line at every start, so that no configuration file has to be migrated.
import type { Placement } from "./placement.ts";

export const SOCKET_PORT = 5432;

/** Durable commits, little memory, a bounded write-ahead log. */
const SETTINGS: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  // Just-in-time compilation costs more than Patchbay's statements take.
  jit: "off",
  autovacuum: "on",
  shared_buffers: "32MB",
  max_connections: "120",
  max_wal_size: "256MB",
  min_wal_size: "64MB",
  // There are no replicas, and backups are logical.
  wal_level: "minimal",
  max_wal_senders: "0",
  // Otherwise a process waits for subscriptions.
  max_logical_replication_workers: "0",
  logging_collector: "off",
  log_destination: "stderr",
  log_min_messages: "warning",
  log_line_prefix: "%m [%p] ",
  // Statements contain tenants' data.
  log_min_error_statement: "panic",
  log_statement: "none",
  log_parameter_max_length_on_error: "0",
  log_parameter_max_length: "0",
};

/** `tcpPort` is set if there are no Unix sockets (Windows): the server then listens on loopback with SCRAM. */
export function serverArguments({ data, sockets }: Placement, tcpPort: number | null): readonly string[] {
  const network: Readonly<Record<string, string>> =
    tcpPort === null
      ? { listen_addresses: "", unix_socket_directories: sockets, unix_socket_permissions: "0700" }
      : { listen_addresses: "127.0.0.1", unix_socket_directories: "" };
  const settings = Object.entries({ ...SETTINGS, ...network }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", data, "-p", String(tcpPort ?? SOCKET_PORT), ...settings];
}
