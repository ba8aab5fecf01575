// Webhook deliveries of all workspaces, for the operator. The receivers' answers are visible to their workspace only.
import { deliveriesList, STATUS_FILTER } from "./deliveries-list.ts";
import { filterView, filtersIn } from "./filter-view.ts";
import { namedFilter, namesAt } from "./names.ts";
import type { Visit } from "./visit.ts";

export async function showDeliveries(visit: Visit): Promise<readonly Node[]> {
  const workspaces = await namesAt(visit, "/workspaces");
  const filters = [STATUS_FILTER, namedFilter("workspace", "Workspace", workspaces)];
  const query = filtersIn(visit, filters);
  const { view } = await deliveriesList(visit, {
    path: `/deliveries?${query}`,
    workspaces,
    empty:
      query === ""
        ? "No deliveries in the last seven days. Deliveries are created when a job of a workspace with a webhook ends."
        : "No deliveries match these filters.",
  });
  return [filterView(visit, filters), view];
}
