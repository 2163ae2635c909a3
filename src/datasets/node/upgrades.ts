import { defineDataset } from '../dataset.ts';
import { object, optional, rfc3339, text, uint } from '../fields.ts';
import { hour } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/** Activation times of network upgrades (info.upgrades). */
const source = nodeMethod({
  name: 'upgrades',
  path: '/ext/info',
  method: 'info.upgrades',
  every: hour,
});

export const nodeUpgrades = defineDataset({
  name: 'upgrades',
  about:
    'Activation times of network upgrades in the configuration of a node; upgrades without a column are in extra.',
  operations: ['info.upgrades'],
  history: 'state',
  source,
  request: ['node'],
  key: ['node'],
  everyNode: { own: [] },
  items: (body) => [body],
  item: object({
    apricotPhase1Time: optional(rfc3339()),
    apricotPhase2Time: optional(rfc3339()),
    apricotPhase3Time: optional(rfc3339()),
    apricotPhase4Time: optional(rfc3339()),
    apricotPhase4MinPChainHeight: optional(uint()),
    apricotPhase5Time: optional(rfc3339()),
    apricotPhasePre6Time: optional(rfc3339()),
    apricotPhase6Time: optional(rfc3339()),
    apricotPhasePost6Time: optional(rfc3339()),
    banffTime: optional(rfc3339()),
    cortinaTime: optional(rfc3339()),
    cortinaXChainStopVertexID: optional(text()),
    durangoTime: optional(rfc3339()),
    etnaTime: optional(rfc3339()),
    fortunaTime: optional(rfc3339()),
    graniteTime: optional(rfc3339()),
    graniteEpochDuration: optional(uint('In nanoseconds.')),
    heliconTime: optional(rfc3339('The year 9999: not scheduled.')),
  }),
  example: {
    apricotPhase1Time: '2021-03-31T14:00:00Z',
    apricotPhase2Time: '2021-05-10T11:00:00Z',
    apricotPhase3Time: '2021-08-24T14:00:00Z',
    apricotPhase4Time: '2021-09-22T21:00:00Z',
    apricotPhase4MinPChainHeight: 793005,
    apricotPhase5Time: '2021-12-02T18:00:00Z',
    apricotPhasePre6Time: '2022-09-05T01:30:00Z',
    apricotPhase6Time: '2022-09-06T20:00:00Z',
    apricotPhasePost6Time: '2022-09-07T03:00:00Z',
    banffTime: '2022-10-18T16:00:00Z',
    cortinaTime: '2023-04-25T15:00:00Z',
    cortinaXChainStopVertexID: 'jrGWDh5Po9FMj54depyunNixpia5PN4aAYxfmNzU8n752Rjga',
    durangoTime: '2024-03-06T16:00:00Z',
    etnaTime: '2024-12-16T17:00:00Z',
    fortunaTime: '2025-04-08T15:00:00Z',
    graniteTime: '2025-11-19T16:00:00Z',
    graniteEpochDuration: 300_000_000_000,
    heliconTime: '9999-12-01T00:00:00Z',
  },
});

export const { table: nodeUpgradesTable } = nodeUpgrades;
