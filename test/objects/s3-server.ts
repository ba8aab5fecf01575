// An S3 server over its real API on loopback, with one bucket: the development dependency s3rver, typed as far as it is used.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { S3Settings } from "../../src/objects/s3.ts";

interface S3rver {
  run(): Promise<AddressInfo>;
  readonly httpServer: Server & { closeAllConnections(): void };
}
type S3rverClass = new (options: {
  readonly address: string;
  readonly port: number;
  readonly silent: boolean;
  readonly allowMismatchedSignatures: boolean;
  readonly directory: string;
  readonly configureBuckets: readonly { readonly name: string }[];
}) => S3rver;

export interface S3Server {
  readonly settings: S3Settings;
  /** The HTTP server itself, to watch its connections. */
  readonly http: Server;
  stop(): Promise<void>;
}

/** Strict about signatures it refuses every listing: it takes the slash off `/<bucket>/?list-type=2`, which the client signed. */
export async function startS3Server({ strictSignatures = false } = {}): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "patchbay-s3-"));
  // The package has no types.
  const S3rver = createRequire(import.meta.url)("@20minutes/s3rver") as S3rverClass;
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    allowMismatchedSignatures: !strictSignatures,
    directory,
    configureBuckets: [{ name: "patchbay" }],
  });
  const { port } = await server.run();
  return {
    settings: {
      bucket: "patchbay",
      region: null,
      endpoint: `http://127.0.0.1:${port}`,
      prefix: "",
      accessKeyId: "S3RVER",
      secretAccessKey: "S3RVER",
      forcePathStyle: true,
    },
    http: server.httpServer,
    stop: async () => {
      const closed = once(server.httpServer, "close");
      server.httpServer.close();
      server.httpServer.closeAllConnections();
      await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
