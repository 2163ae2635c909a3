import type { Dataset, History } from '../../datasets/contract.ts';
import type { Declared } from '../../db/declared.ts';
import { everyNodeRule } from '../../recording/histories/contradictions.ts';
import { logViews } from './by-history/log.ts';
import { sampleViews } from './by-history/sample.ts';
import { seriesViews } from './by-history/series.ts';
import { stateViews } from './by-history/state.ts';
import { elementViews } from './element-views.ts';
import { disagreementsView, networkView } from './network-view.ts';

const byHistory: Readonly<Record<History, (dataset: Dataset) => Declared[]>> = {
  log: logViews,
  sample: sampleViews,
  state: stateViews,
  series: seriesViews,
};

/**
 * Returns the views and functions of one dataset, as defined for its kind of history.
 */
export function datasetViews(dataset: Dataset): Declared[] {
  return [...byHistory[dataset.history](dataset), ...networkViews(dataset), ...elementViews(dataset)];
}

function networkViews(dataset: Dataset): Declared[] {
  if (!dataset.everyNode) return [];
  const network = networkView(dataset, dataset.everyNode);
  const telling = everyNodeRule(dataset);
  return telling ? [network, disagreementsView(telling, network)] : [network];
}
