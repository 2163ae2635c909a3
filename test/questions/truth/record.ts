import { targetKey } from '../../../src/recording/target-key.ts';
import { quotient } from '../decimals.ts';
import { NODES } from '../world.ts';
import { type Answers, DAY, iso, PRIMARY, SECOND } from './question.ts';

/** Expected results about the record itself. */
export const record: Answers = {
  freshness_by_dataset: (question) =>
    question.world.recorder.feeds.flatMap(({ source, datasets, targets }) =>
      targets.length === 0
        ? []
        : datasets.map(({ name, every }) => {
            const refused = name === 'node_reported_uptime' ? 1 : 0;
            const seconds = every / SECOND;
            const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
            return {
              dataset: name,
              targets: String(targets.length),
              recorded: String(targets.length - refused),
              late: String(source.once ? 0 : targets.length - refused),
              failing: '0',
              incomplete: '0',
              unsupported: String(refused),
              newest_success_at: iso(source.once ? (question.polls[0] ?? 0) : question.lastPoll),
              expected_every:
                seconds === 86_400 ? '1 day' : clock.map((part) => String(part).padStart(2, '0')).join(':'),
            };
          }),
    ),

  disagreements: (question) => {
    const [first, wrong] = NODES;
    const { network } = question.world.sandbox;
    const chain = network.chain('p-chain');
    if (!chain) return [];
    const supply = network.blocks(chain).supply(question.lastPoll / SECOND);
    return [
      {
        dataset: 'current_supply',
        entity: `subnet_id=${PRIMARY}`,
        node: wrong ?? '',
        column_name: 'supply',
        node_value: String(BigInt(supply) + 1n),
        majority_value: supply,
        reporting_nodes: first ?? '',
      },
    ];
  },

  gaps_between: (question) =>
    question.world.recorder.feeds.flatMap(({ source, datasets, targets }) =>
      datasets
        // Readings further apart than two intervals leave permanent gaps, reported as one.
        .filter(
          ({ name, every }) =>
            !source.range && 2 * every < DAY / 2 && name === (question.parameter('dataset') ?? name),
        )
        .flatMap(({ name }) =>
          targets
            .filter(({ node }) => name !== 'node_reported_uptime' || node === 'validator-1')
            .flatMap((target) => {
              const start = Math.max((question.polls[0] ?? 0) + 1, question.from);
              const end = Math.min(question.lastPoll, question.to);
              if (start >= end) return [];
              return [
                {
                  dataset: name,
                  target: targetKey(target),
                  range_start: iso(start),
                  range_end: iso(end),
                  seconds: quotient(BigInt(end - start), 1000n, 3),
                  reason: 'not observed: the recorder did not run',
                },
              ];
            }),
        ),
    ),
};
