// How HTTP is spoken on every socket of ours, pooled or not.

/**
 * A pooled socket must be given up before the server does it. Node closes idle ones after 5 s, most balancers after 60;
 * a server's `Keep-Alive: timeout` shortens ours further. undici also reads what waits on an idle socket before it writes,
 * so that a close already received is seen.
 */
const IDLE_SOCKET_MS = 4_000;

export const HTTP_OPTIONS = {
  // A provider may think for ten minutes; each exchange brings its own deadline.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: IDLE_SOCKET_MS,
  keepAliveMaxTimeout: IDLE_SOCKET_MS,
  // "Has a byte left?" is known per socket; HTTP/2 would blur it, and would share one socket's fate among many calls.
  allowH2: false,
  pipelining: 1,
} as const;
