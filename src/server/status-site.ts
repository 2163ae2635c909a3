import { closeSync, openSync, readSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import type { Announced } from '../health/announcements.ts';
import { messageOf, UsageError } from '../lib/errors.ts';

/** An image of the user's own. */
export interface Logo {
  readonly type: 'image/svg+xml' | 'image/png';
  readonly ending: '.svg' | '.png';
  readonly body: Buffer;
}

/** What the configuration says of the status page. */
export interface StatusSite {
  readonly title: string;
  /** Paragraphs. */
  readonly text: readonly string[];
  /** Null: none. */
  readonly logo: Logo | null;
  /** The nodes of the configuration, by name. */
  readonly nodes: readonly string[];
  readonly announced: Announced;
}

/** The most bytes that a logo may have: each visitor loads it. */
const MOST = 256 * 1024;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** What of an SVG runs or loads something. As an image it could not; somebody may open the file itself. */
const ACTIVE = /<\s*(?:[\w-]+:)?(?:script|foreignObject|iframe)\b|\son\w+\s*=|javascript:|<!ENTITY/i;

/** @throws UsageError when the logo cannot be read, is no SVG or PNG, is too large, or could run a script */
export function statusSite({ server: { status }, upstreams, health }: Config): StatusSite {
  return {
    title: status.title,
    text: status.text?.split(/\n\s*\n/).map((one) => one.trim()) ?? [],
    logo: status.logo === undefined ? null : readLogo(status.logo),
    nodes: upstreams.nodes.map(({ name }) => name),
    announced: health.maintenance,
  };
}

function readLogo(file: string): Logo {
  const refuse = (why: string) => new UsageError([`server.status.logo: ${file}: ${why}`]);
  let body: Buffer;
  try {
    body = firstBytes(file, MOST + 1);
  } catch (error) {
    throw refuse(messageOf(error));
  }
  if (body.length > MOST) throw refuse(`is larger than ${MOST / 1024} kB: make it smaller`);
  if (body.subarray(0, PNG.length).equals(PNG)) return { type: 'image/png', ending: '.png', body };
  const text = body.toString('utf8');
  if (!/^\uFEFF?\s*(?:<\?xml[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE\s+svg\b[^>[]*>|\s)*<svg[\s>]/i.test(text))
    throw refuse('is neither an SVG nor a PNG');
  if (ACTIVE.test(text)) throw refuse('has a script, an entity or a foreign object in it: take it out');
  return { type: 'image/svg+xml', ending: '.svg', body };
}

/** The beginning of a file, so that one that never ends is not read to its end. */
function firstBytes(file: string, most: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(most);
    let length = 0;
    for (let read = -1; read !== 0 && length < most; length += read)
      read = readSync(descriptor, bytes, length, most - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
