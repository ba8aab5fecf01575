// A gateway whose internet is one server on loopback, `media.example`; workspace acme lists it, the other one does not.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { speech } from "../../harness/client.ts";
import { configurationWith, mergeParts } from "../../harness/configuration.ts";
import { standardParts, startGateway, type TestGateway, type TestGatewayOptions } from "../../harness/gateway.ts";
import { type PretendInternet, pretendInternet } from "../../outbound/pretend-internet.ts";

/** Of an app whose route streams. */
export const STREAM_KEY = "test-key-of-the-app-that-streams";
export const ADMIN_KEY = "test-key-of-the-administrator-01";
export const OTHER_ADMIN_KEY = "test-key-of-another-admin-000001";
export const OPERATOR_KEY = "test-key-of-the-operator-0000001";
export const URL_OF_SPEECH = "https://media.example/speech.wav?sig=canary-signature";
export const PUBLIC = "93.184.216.34";

export interface RemoteGateway {
  readonly gateway: TestGateway;
  readonly internet: PretendInternet;
  /** Where `media.example` really listens. */
  readonly port: number;
  /** Paths that were asked of `media.example`. */
  readonly requests: string[];
  /** What it answers from now on; `serveSpeech` at first. */
  answer(handle: (request: IncomingMessage, response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export function serve(response: ServerResponse, bytes: Uint8Array, contentType = "audio/wav"): void {
  response.writeHead(200, { "content-type": contentType, "content-length": bytes.byteLength }).end(bytes);
}

export const serveSpeech = (_request: IncomingMessage, response: ServerResponse): void => serve(response, speech());

export async function startRemoteGateway(
  options: Pick<TestGatewayOptions, "wrapGateway" | "existing" | "works" | "now"> & {
    readonly limits?: Readonly<Record<string, number>>;
  } = {},
): Promise<RemoteGateway> {
  const { limits = {}, ...rest } = options;
  await using opened = new AsyncDisposableStack();
  const internet = pretendInternet();
  const requests: string[] = [];
  let handle = serveSpeech;
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  internet.name("media.example", [PUBLIC]);
  const { port } = server.address() as AddressInfo;
  internet.server(PUBLIC, new URL(`http://127.0.0.1:${port}`));
  const gateway = await startGateway({
    ...rest,
    network: internet,
    file: (sandbox) => remoteFile(sandbox, limits),
  });
  opened.defer(() => gateway.close());
  const kept = opened.move();
  return {
    gateway,
    internet,
    port,
    requests,
    answer: (next) => {
      handle = next;
    },
    close: () => kept.disposeAsync(),
  };
}

export function remoteFile(sandbox: Sandbox, limits: Readonly<Record<string, number>> = {}): ConfigurationFile {
  return configurationWith(
    sandbox,
    mergeParts(standardParts, {
      routes: { live: "oa/gpt-4o-transcribe" },
      // Not to be met where it is not the subject.
      limits: { url_fetches_per_minute: 1_000_000, ...limits },
      prices: { "deepgram/nova-3": "0.36" },
      audio_url: { global_domains: ["global.example"] },
      operator: OPERATOR_KEY,
      admin: ADMIN_KEY,
      apps: { live: { scopes: ["transcribe"], key: STREAM_KEY } },
      workspaces: {
        acme: { audio_url_domains: ["media.example"] },
        other: { ...standardParts.workspaces.other, admin: OTHER_ADMIN_KEY },
      },
    }),
  );
}
