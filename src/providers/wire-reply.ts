// A provider's reply to one HTTP exchange.
export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, at most the request's `maxReplyBytes`; of a large one its beginning. */
  readonly text: string;
  /** Of a large body: what it says as JSON; undefined where it is none. */
  readonly parsed?: { readonly body: unknown; readonly sizeBytes: number };
}
