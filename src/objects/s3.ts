// Stores objects in an S3-compatible store with an atomic PUT.
import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { ObjectBackend } from "./backend.ts";

export interface S3Settings {
  readonly bucket: string;
  readonly region: string | null;
  readonly endpoint: string | null;
  readonly prefix: string;
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
  readonly forcePathStyle: boolean;
}

const CONNECT_MS = 5_000;
/** Long, because a provider that reads slowly stalls the download of the audio sent to it. */
const IDLE_MS = 300_000;

export function openS3(settings: S3Settings): ObjectBackend {
  const client = connect(settings);
  const prefix = settings.prefix.replaceAll(/^\/+|\/+$/gu, "");
  const storeKey = (key: string) => (prefix === "" ? key : `${prefix}/${key}`);
  const keyOf = (name: string) => (prefix === "" ? name : name.slice(prefix.length + 1));
  const addressOf = (key: string) => ({ Bucket: settings.bucket, Key: storeKey(key) });

  return {
    async put(key, body, sizeBytes) {
      const abort = new AbortController();
      const stream = Readable.from(body, { objectMode: false });
      // Otherwise a body that fails would leave the request open forever.
      stream.once("error", () => abort.abort());
      try {
        // With a content length the body is streamed. Without one, the client would buffer it or use chunked signing,
        // which many stores do not support.
        const command = new PutObjectCommand({ ...addressOf(key), Body: stream, ContentLength: sizeBytes });
        await client.send(command, { abortSignal: abort.signal });
      } catch (error) {
        throw stream.errored ?? error;
      } finally {
        stream.destroy();
      }
    },
    async open(key) {
      const object = await client.send(new GetObjectCommand(addressOf(key))).catch((error: unknown) => {
        // A missing bucket is a configuration error, not a missing object.
        if (error instanceof NoSuchKey) return null;
        throw error;
      });
      if (object === null) return null;
      if (object.Body instanceof Readable) return object.Body;
      throw new Error("the S3 client returned an object without a stream");
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand(addressOf(key)));
    },
    async *list(folder) {
      const pages = paginateListObjectsV2({ client }, { Bucket: settings.bucket, Prefix: `${storeKey(folder)}/` });
      for await (const { Contents: objects = [] } of pages)
        for (const { Key: name, LastModified: modifiedAt } of objects)
          if (name !== undefined && modifiedAt !== undefined) yield { key: keyOf(name), modifiedAt };
    },
    close: () => client.destroy(),
  };
}

function connect(settings: S3Settings): S3Client {
  const { accessKeyId, secretAccessKey, endpoint } = settings;
  // A self-hosted store has no regions, but the signature names one. The SDK finds Amazon's region itself.
  const region = settings.region ?? (endpoint === null ? null : "us-east-1");
  return new S3Client({
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(accessKeyId === null || secretAccessKey === null ? {} : { credentials: { accessKeyId, secretAccessKey } }),
    forcePathStyle: settings.forcePathStyle,
    // Many other stores reject the checksum trailers that Amazon's SDK sends by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // Without a logger the SDK warns on the console about uploads that it cannot repeat, and throws the error as well.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
  });
}

function ignore(): void {}
