// Composes the guard for outbound requests to addresses supplied by users. A gateway (`compose/app.ts`) and `patchbay doctor` share it, so both refuse the same.
import type { Configuration } from "../config/configuration.ts";
import type { DoctorNetwork, OpenNetwork } from "../operations/doctor/doctor-network.ts";
import { ModelFault } from "../local-models/model-fault.ts";
import { createOutbound, type Outbound, type ProxySettings } from "../outbound/dial.ts";
import type { GuardOptions } from "../outbound/guard.ts";
import { ownAddresses, systemConnector, systemLookUp, systemResolver } from "../outbound/system-network.ts";
import { webhookPolicy } from "../outbound/url-policy.ts";
import { reachReceiver } from "../webhooks/receivers.ts";

export interface OutboundParts {
  readonly configuration: Pick<Configuration, "server">;
  /** Replaces name servers and the internet in tests; the guard in front of them stays. */
  readonly network?: Pick<GuardOptions, "resolve" | "connect"> | undefined;
}

export function openOutbound({ configuration, network }: OutboundParts): Outbound {
  return createOutbound({
    guard: {
      ...(network ?? { resolve: systemResolver(), connect: systemConnector() }),
      nat64: configuration.server.nat64,
      own: () => ({ endpoints: ownEndpoints(configuration), addresses: ownAddresses() }),
    },
  });
}

/** For downloads of models, which may have to pass a proxy. Proxies of provider calls are not supported. */
export function openDownloads(proxy: ProxySettings): Outbound {
  const isUsable = proxy.https === "" || /^https?:$/u.test(URL.parse(proxy.https)?.protocol ?? "");
  if (!isUsable)
    throw new ModelFault("refused", "HTTPS_PROXY is not the address of an HTTP proxy.", [
      "write it as http://HOST:PORT",
    ]);
  return createOutbound({ proxy });
}

export const openDoctorNetwork: OpenNetwork = async (configuration) =>
  doctorNetwork(openOutbound({ configuration }), configuration);

export function doctorNetwork(outbound: Outbound, { webhooks }: Pick<Configuration, "webhooks">): DoctorNetwork {
  const policy = webhookPolicy(webhooks);
  return {
    lookUp: systemLookUp,
    reach: (url, signal) => reachReceiver(outbound, policy, url, signal),
    close: () => outbound.close(),
  };
}

function ownEndpoints({ server }: Pick<Configuration, "server">): readonly string[] {
  const { protocol, hostname, port } = new URL(server.publicUrl);
  const publicPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  return [
    `${hostname}:${publicPort}`,
    `${server.host}:${server.port}`,
    ...(server.admin === null ? [] : [`${server.admin.host}:${server.admin.port}`]),
  ];
}
