// The limits of the HTTP level and the timeouts for slow clients [api.head-limits]. Tests pass smaller ones.

export interface EdgeLimits {
  readonly maxTargetBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaderFields: number;
  readonly headersTimeoutMs: number;
  readonly checkIntervalMs: number;
  /** Longer than the 60 s after which common load balancers drop an idle connection. */
  readonly keepAliveMs: number;
  readonly bodyGraceMs: number;
  readonly bodyWindowMs: number;
  readonly minBodyBytesPerSecond: number;
  /** How long a connection stays half-closed after a reply that left its request body unread. */
  readonly lingerMs: number;
  /** If the unread body is up to this size, it is read and discarded. Of a larger one nothing more is read. */
  readonly lingerBytes: number;
  /** A client that takes no byte of its reply for this long counts as disconnected. */
  readonly unreadReplyMs: number;
}

export const EDGE_LIMITS: EdgeLimits = {
  maxTargetBytes: 8_192,
  maxHeaderBytes: 16_384,
  maxHeaderFields: 100,
  headersTimeoutMs: 15_000,
  checkIntervalMs: 5_000,
  keepAliveMs: 75_000,
  bodyGraceMs: 10_000,
  bodyWindowMs: 5_000,
  minBodyBytesPerSecond: 8_192,
  lingerMs: 1_000,
  lingerBytes: 32_768,
  unreadReplyMs: 60_000,
};
