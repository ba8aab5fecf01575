// Reads the proxy of downloads from the environment, in lower case or upper case and with or without a scheme, as curl does [local-models.proxy].
import { type Environment, readVariable } from "./environment-settings.ts";

export interface ProxySettings {
  /** A URL. Empty: no proxy. */
  readonly https: string;
  readonly noProxy: string;
}

export function proxySettings(env: Environment): ProxySettings {
  const read = (name: string): string => readVariable(env, name.toLowerCase()) ?? readVariable(env, name) ?? "";
  const https = read("HTTPS_PROXY");
  const isUrl = https === "" || /^[a-z][a-z0-9+.-]*:\/\//iu.test(https);
  return { https: isUrl ? https : `http://${https}`, noProxy: read("NO_PROXY") };
}
