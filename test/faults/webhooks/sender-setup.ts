// Shared settings of run-webhooks.ts and its senders.

export interface SenderSetup {
  readonly databaseUrl: string;
  readonly receiverPort: number;
  readonly timeoutMs: number;
}

/** A public address, as the guard requires; the senders' connector maps it to the run's own receiver. */
export const ADDRESS = "93.184.216.34";
