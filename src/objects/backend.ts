// The interface of object storage backends (a directory or S3). Keys are validated, and bodies have exactly the declared size.
export interface ObjectBackend {
  put(key: string, body: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void>;
  /** Stores bytes without copying them. They must not change until it has settled. */
  putBytes?(key: string, bytes: Uint8Array): Promise<void>;
  /** Stores a file without copying it. False: the backend cannot, and did nothing. */
  take?(key: string, path: string, sizeBytes: number): Promise<boolean>;
  /** Null when there is no such object. */
  open(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncIterable<{ readonly key: string; readonly modifiedAt: Date }>;
  close(): void;
}
