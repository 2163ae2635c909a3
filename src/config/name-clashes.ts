import { z } from 'zod';

const list = z.array(z.unknown()).catch([]);
const named = z.looseObject({ name: z.string() });
/** The parts of the file whose members have names. Everything else is ignored here, valid or not. */
const told = z.looseObject({
  upstreams: z.looseObject({ nodes: list }).catch({ nodes: [] }),
  changes: z.looseObject({ sinks: list }).catch({ sinks: [] }),
  alerts: z.looseObject({ channels: list, rules: list }).catch({ channels: [], rules: [] }),
});
const rule = z.looseObject({ channels: list });

/** Under this name it is kept how the heartbeat stands: no channel may be called so. */
export const HEARTBEAT = 'heartbeat';

/**
 * Names that are there twice, and channels that rules name and nobody has. It reads the file as it is written, so that these
 * are told also beside what else is wrong with it.
 * @returns each as its path and what is wrong
 */
export function clashingNames(value: unknown): string[] {
  const read = told.safeParse(value);
  if (!read.success) return [];
  const { upstreams, changes, alerts } = read.data;
  const channels = namesOf(alerts.channels).flatMap((name) => name ?? []);
  const there = channels.length > 0 ? `there are ${channels.join(', ')}` : 'there are none';
  const unknownChannels = alerts.rules.flatMap((one, at) =>
    (rule.safeParse(one).data?.channels ?? []).flatMap((name, place) =>
      typeof name !== 'string' || channels.includes(name)
        ? []
        : [`alerts.rules[${at}].channels[${place}]: there is no channel "${name}"; ${there}`],
    ),
  );
  return [
    ...taken('upstreams.nodes', upstreams.nodes),
    ...taken('changes.sinks', changes.sinks),
    ...taken('alerts.channels', alerts.channels, [HEARTBEAT]),
    ...taken('alerts.rules', alerts.rules),
    ...unknownChannels,
  ];
}

const namesOf = (all: readonly unknown[]) => all.map((one) => named.safeParse(one).data?.name);

function taken(path: string, all: readonly unknown[], reserved: readonly string[] = []): string[] {
  const before = new Set<string>(reserved);
  return namesOf(all).flatMap((name, at) => {
    if (name === undefined) return [];
    if (before.has(name)) return [`${path}[${at}].name: "${name}" is taken: names are unique`];
    before.add(name);
    return [];
  });
}
