// Stores objects in an S3-compatible store with an atomic PUT. flydrive reads, removes and lists, but its `putStream` cannot be aborted, and a body
// that fails would leave the request open forever, so puts use the S3 client directly.
import { Readable } from "node:stream";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { S3Driver } from "flydrive/drivers/s3";
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
  const driver = new S3Driver({ client, bucket: settings.bucket, visibility: "private", supportsACL: false });
  const prefix = settings.prefix.replaceAll(/^\/+|\/+$/gu, "");
  const storeKey = (key: string) => (prefix === "" ? key : `${prefix}/${key}`);
  const keyOf = (name: string) => (prefix === "" ? name : name.slice(prefix.length + 1));

  return {
    async put(key, body, sizeBytes) {
      const abort = new AbortController();
      const stream = Readable.from(body, { objectMode: false });
      stream.once("error", () => abort.abort());
      try {
        // With a content length the body is streamed. Without one, the client would buffer it or use chunked signing,
        // which many stores do not support.
        const command = new PutObjectCommand({
          Bucket: settings.bucket,
          Key: storeKey(key),
          Body: stream,
          ContentLength: sizeBytes,
        });
        await client.send(command, { abortSignal: abort.signal });
      } catch (error) {
        throw stream.errored ?? error;
      } finally {
        stream.destroy();
      }
    },
    async open(key) {
      try {
        return await driver.getStream(storeKey(key));
      } catch (error) {
        // A missing bucket is a configuration error, not a missing object.
        if (error instanceof Error && error.name === "NoSuchKey") return null;
        throw error;
      }
    },
    remove: (key) => driver.delete(storeKey(key)),
    async *list(folder) {
      let token: string | undefined;
      do {
        const page = await driver.listAll(`${storeKey(folder)}/`, {
          recursive: true,
          ...(token === undefined ? {} : { paginationToken: token }),
        });
        for (const object of page.objects)
          if (object.isFile) yield { key: keyOf(object.key), modifiedAt: (await object.getMetaData()).lastModified };
        token = page.paginationToken;
      } while (token !== undefined);
    },
    close: () => client.destroy(),
  };
}

function connect(settings: S3Settings): S3Client {
  const { accessKeyId, secretAccessKey, endpoint } = settings;
  // A self-hosted store has no regions, but the signature names one. The driver finds Amazon's region itself.
  const region = settings.region ?? (endpoint === null ? null : "us-east-1");
  return new S3Client({
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(accessKeyId === null || secretAccessKey === null ? {} : { credentials: { accessKeyId, secretAccessKey } }),
    forcePathStyle: settings.forcePathStyle,
    // Many other stores reject the checksum trailers that Amazon's SDK sends by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // The driver would print the errors that it also throws.
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS },
  });
}

function ignore(): void {}
