import type { FastifyInstance } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { z } from 'zod';
import { escapeHtmlDocument } from '../lib/safe-text.ts';
import {
  type NodeStatus,
  type NodesStatus,
  type SpanName,
  spans,
} from '../reporting/reports/nodes/nodes-status.ts';
import { uptimeIn } from '../reporting/reports/nodes/windows.ts';
import { percentText } from '../reporting/reports/uptime.ts';

/** Values of the parameter `range`, and the name of the span of each value. */
const ranges = { '24h': '24 h', '7d': '7 days', '30d': '30 days', '90d': '90 days' } as const;
export type BadgeRange = keyof typeof ranges;
export const badgeRanges = ['24h', '7d', '30d', '90d'] as const satisfies readonly BadgeRange[];
const badgeParameters = z.strictObject({
  range: z.enum(badgeRanges, { error: `must be one of ${badgeRanges.join(', ')}` }).optional(),
});

/** Colours of the states and of uptimes. White text is readable on all of them. */
const COLOURS = {
  up: '#1a7f45',
  down: '#c0392b',
  maintenance: '#2f6f9f',
  unknown: '#6b6f76',
  unrecorded: '#6b6f76',
} as const;

const HEIGHT = 20;
const PADDING = 7;
/** Assumed width of a character, in px, large enough for all fallback fonts. */
const CHARACTER_WIDTH = 6.6;
const CACHE_SECONDS = 60;

/**
 * Serves `/badge/NODE.svg`: the state of the node, or with `?range=24h|7d|30d|90d` its uptime in that range.
 * Time without an observation counts as downtime: the text of the badge is then a lower bound ("≥").
 */
export function serveBadges(server: FastifyInstance, nodes: () => Promise<NodesStatus>): void {
  server.get<{ Params: { file: string } }>('/badge/:file', async ({ params, query }, reply) => {
    const parameters = badgeParameters.safeParse(query);
    if (!parameters.success)
      return reply.code(400).send({
        error: parameters.error.issues.map(({ path, message }) => [...path, message].join(': ')).join('; '),
      });
    const name = /^(.+)\.svg$/s.exec(params.file)?.[1];
    const node = name === undefined ? undefined : (await nodes()).nodes.find((one) => one.node === name);
    if (!node)
      return reply.code(404).send({
        error: `there is no badge ${params.file}: use /badge/NODE.svg, with the name of a watched node`,
      });
    return reply
      .type('image/svg+xml')
      .header('cache-control', `private, max-age=${CACHE_SECONDS}`)
      .send(badgeOf(node, parameters.data.range));
  });
}

/**
 * Renders the badge of a node, as SVG.
 * @param range range of the uptime. Default: the current state
 */
export function badgeOf(node: NodeStatus, range?: BadgeRange): string {
  const { text, colour } = range === undefined ? stateOf(node) : uptimeOf(node, ranges[range]);
  return escapeHtmlDocument(renderToString(<Badge label={node.node} text={text} colour={colour} />));
}

const stateOf = ({ state }: NodeStatus) => ({
  text: state === 'unrecorded' ? 'no record' : state,
  colour: COLOURS[state],
});

function uptimeOf(node: NodeStatus, span: SpanName) {
  const window = node.spans[span];
  const { uptime, least } = uptimeIn(window);
  const days = spans[span] === 1 ? '24 h' : `${spans[span]} d`;
  if (uptime === null || least === null) return { text: `unknown, ${days}`, colour: COLOURS.unknown };
  const share = window.unknown > 0 ? `≥ ${percentText(least)}` : percentText(uptime);
  return { text: `${share}, ${days}`, colour: window.down > 0 ? COLOURS.down : COLOURS.up };
}

function Badge({
  label,
  text,
  colour,
}: {
  readonly label: string;
  readonly text: string;
  readonly colour: string;
}) {
  const width = (words: string) => Math.ceil([...words].length * CHARACTER_WIDTH) + 2 * PADDING;
  const [left, right] = [width(label), width(text)];
  const words = `${label}: ${text}`;
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={left + right}
      height={HEIGHT}
      role="img"
      aria-label={words}
    >
      <title>{words}</title>
      <rect width={left + right} height={HEIGHT} rx="3" fill="#3c4148" />
      <path d={`M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-${right - 3}z`} fill={colour} />
      <g fill="#fff" font-family="system-ui,Verdana,sans-serif" font-size="11" text-anchor="middle">
        <text x={left / 2} y="14">
          {label}
        </text>
        <text x={left + right / 2} y="14">
          {text}
        </text>
      </g>
    </svg>
  );
}
