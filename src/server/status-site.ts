import { closeSync, openSync, readSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import type { AnnouncedMaintenance } from '../health/announcements.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';

export interface Logo {
  readonly type: 'image/svg+xml' | 'image/png';
  readonly ending: '.svg' | '.png';
  readonly body: Buffer;
}

/** Configuration of the status page. */
export interface StatusSite {
  readonly title: string;
  /** Paragraphs below the title. */
  readonly text: readonly string[];
  /** Configured logo; null if there is none. */
  readonly logo: Logo | null;
  /** Names of the configured nodes. */
  readonly nodes: readonly string[];
  readonly announced: AnnouncedMaintenance;
}

/** Maximum size of a logo, in bytes. Each visitor downloads the logo. */
const MAX_LOGO_BYTES = 256 * 1024;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/**
 * Content of an SVG that runs scripts or loads other files. Browsers block such content in images, but not in
 * an SVG that is opened directly.
 */
const ACTIVE_CONTENT = /<\s*(?:[\w-]+:)?(?:script|foreignObject|iframe)\b|\son\w+\s*=|javascript:|<!ENTITY/i;

/**
 * Returns the configuration of the status page.
 * @throws UsageError if the logo cannot be read, is neither SVG nor PNG, is too large, or could run a script
 */
export function readStatusSite({ server: { status }, upstreams, health }: Config): StatusSite {
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
    body = firstBytes(file, MAX_LOGO_BYTES + 1);
  } catch (error) {
    throw refuse(toErrorMessage(error));
  }
  if (body.length > MAX_LOGO_BYTES)
    throw refuse(`is larger than ${MAX_LOGO_BYTES / 1024} kB: set a smaller file`);
  if (body.subarray(0, PNG.length).equals(PNG)) return { type: 'image/png', ending: '.png', body };
  const text = body.toString('utf8');
  if (!/^\uFEFF?\s*(?:<\?xml[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE\s+svg\b[^>[]*>|\s)*<svg[\s>]/i.test(text))
    throw refuse('is neither an SVG nor a PNG: set a file of one of these formats');
  if (ACTIVE_CONTENT.test(text)) throw refuse('contains a script, an entity or a foreign object: remove it');
  return { type: 'image/svg+xml', ending: '.svg', body };
}

/**
 * Reads the first bytes of a file. The rest is not read, because the file may be an endless device.
 * @param most maximum number of bytes
 */
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
