// Selects the route in whose context a request is resolved: for audio the `audio_input` override if the key has one, otherwise the route of the key
// [routing.purpose-override-context]. Pure.
import type { Capability } from "../contract/features.ts";
import type { Route, RoutingContext } from "./types.ts";

export function contextRouteOf(context: RoutingContext, capability: Capability): Route {
  return capability === "audio_input" ? (context.audioInputOverride ?? context.route) : context.route;
}
