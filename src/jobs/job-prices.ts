// Prices a job by the price list at its submission [jobs.charge]. Its budget check used those prices, so a charge at a price that was raised since would
// exceed the reservation.
import type { GatewayServices } from "../gateway/services.ts";
import {
  createPriceBook,
  type PriceBook,
  readAudioPrice,
  type StoredAudioPrice,
  storePrice,
} from "../metering/price.ts";
import type { Route } from "../routing/types.ts";
import type { OpenJob } from "./job-request.ts";

export function pricesFor({ prices }: Pick<GatewayServices, "prices">, route: Route): readonly StoredAudioPrice[] {
  const book = prices();
  return route.targets.flatMap(({ provider, model }) => {
    const price = book.audio(provider, model);
    return price === null ? [] : [storePrice(price)];
  });
}

export function atPricesOf({ request }: Pick<OpenJob, "request">, services: GatewayServices): GatewayServices {
  if (request.prices === undefined) return services;
  const book = createPriceBook(request.prices.map(readAudioPrice));
  // Whether a model is free is current. A model that had no price at submission costs nothing either way.
  const current = services.prices();
  const isFree: PriceBook["isFree"] = (provider, model) => current.isFree(provider, model);
  return { ...services, prices: () => ({ ...book, isFree }) };
}
