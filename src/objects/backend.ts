// What an object store implements, be it a directory or S3, for checked keys and bodies of exactly the declared size.
export interface ObjectBackend {
  put(key: string, body: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void>;
  /** False: such a file cannot be taken as it is, and nothing was done. */
  take?(key: string, path: string, sizeBytes: number): Promise<boolean>;
  /** Null when there is no such object. */
  open(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  remove(key: string): Promise<void>;
  list(prefix: string): AsyncIterable<{ readonly key: string; readonly modifiedAt: Date }>;
  close(): void;
}
