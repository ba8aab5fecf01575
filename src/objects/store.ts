// Where large objects are stored: job audio and large results, in a directory or an S3-compatible store. Keys are the gateway's own, never
// a caller's string [storage.objects-names]; an object is there whole or not at all [storage.objects-whole].
import { join } from "node:path";
import { assertNever } from "../lib/assert-never.ts";
import { openDirectory } from "./directory.ts";
import { openS3, type S3Settings } from "./s3.ts";
import type { ObjectBackend } from "./backend.ts";

export interface ObjectStore {
  /** Durable and readable by every process once it resolves; what was under the key before is replaced at that moment. */
  put(key: string, body: ObjectBody, sizeBytes: number): Promise<void>;
  /** Rejects with `ObjectMissing` when there is none. Whoever opens reads to the end or returns the iterator. */
  open(key: string): Promise<AsyncIterable<Uint8Array>>;
  /** No error when there is none. */
  remove(key: string): Promise<void>;
  /** Keys below a prefix such as `audio` whose object is older: what no row names any more can be found and removed. */
  listOlder(prefix: string, before: Date): AsyncIterable<string>;
  close(): void;
}

export type ObjectBody =
  | AsyncIterable<Uint8Array>
  /** A file that nobody writes any more, for a store on the same file system to take as it is; `open` reads it for any other. */
  | { readonly path: string; open(): AsyncIterable<Uint8Array> };

export type ObjectStoreSettings =
  | { readonly kind: "file"; readonly directory: string }
  | ({ readonly kind: "s3" } & S3Settings);

export class ObjectMissing extends Error {
  override readonly name = "ObjectMissing";

  constructor(key: string, options?: ErrorOptions) {
    super(`there is no object ${key}`, options);
  }
}

/** Segments without dots: no key can climb out of a directory, or name one of the store's own files. */
const KEY = /^[A-Za-z0-9_-]{1,128}(\/[A-Za-z0-9_-]{1,128}){0,3}$/;

/** The settings of `storage.objects`, and where the directory lies when it is one. */
export function objectStoreSettings(storage: {
  readonly dataDir: string;
  readonly objects: { readonly kind: "file" } | ({ readonly kind: "s3" } & S3Settings);
}): ObjectStoreSettings {
  return storage.objects.kind === "s3"
    ? storage.objects
    : { kind: "file", directory: join(storage.dataDir, "objects") };
}

export async function openObjectStore(settings: ObjectStoreSettings): Promise<ObjectStore> {
  const backend = await openBackend(settings);
  return {
    async put(key, body, sizeBytes) {
      const isFile = "path" in body;
      if (isFile && (await backend.take?.(checked(key), body.path, sizeBytes)) === true) return;
      await backend.put(checked(key), exactly(isFile ? body.open() : body, sizeBytes), sizeBytes);
    },
    async open(key) {
      const body = await backend.open(checked(key));
      if (body === null) throw new ObjectMissing(key);
      return body;
    },
    remove: (key) => backend.remove(checked(key)),
    async *listOlder(prefix, before) {
      for await (const { key, modifiedAt } of backend.list(checked(prefix)))
        if (KEY.test(key) && modifiedAt < before) yield key;
    },
    close: () => backend.close(),
  };
}

async function openBackend(settings: ObjectStoreSettings): Promise<ObjectBackend> {
  switch (settings.kind) {
    case "file":
      return openDirectory(settings.directory);
    case "s3":
      return openS3(settings);
    default:
      return assertNever(settings);
  }
}

function checked(key: string): string {
  if (!KEY.test(key)) throw new Error("an object's key is made of at most four names of letters, digits, - and _");
  return key;
}

/** A body that ends early or late must not become an object that looks whole. */
async function* exactly(body: AsyncIterable<Uint8Array>, sizeBytes: number): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of body) {
    seen += chunk.length;
    if (seen > sizeBytes) break;
    yield chunk;
  }
  if (seen !== sizeBytes) throw new Error(`the object was to have ${sizeBytes} bytes, its body has ${seen} or more`);
}
