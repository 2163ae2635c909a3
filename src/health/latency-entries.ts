import type { Histogram } from './latency-histogram.ts';

/** Histograms of the parts of a span: hours of a week (0 to 167), days of a month (1 to 31). */
export type Slots = ReadonlyMap<number, Histogram>;

/** Maximum of one count. */
const MAX_COUNT = 0xffff;

/**
 * Encodes slots as bytes. There is one entry per slot and bucket. The four bytes of an entry (slot, bucket,
 * count high, count low) are in four consecutive planes, because the compression of PostgreSQL needs similar
 * bytes next to each other. SQL reads an entry by its position (src/reporting/views/sql/node_latency.sql).
 */
export function encodeSlots(slots: Slots): Buffer {
  const entries = [...slots].flatMap(([slot, histogram]) =>
    [...histogram].map(([bucket, count]) => [slot, bucket, Math.min(count, MAX_COUNT)] as const),
  );
  entries.sort(([slot, bucket], [otherSlot, otherBucket]) => slot - otherSlot || bucket - otherBucket);
  const bytes = Buffer.alloc(entries.length * 4);
  entries.forEach(([slot, bucket, count], at) => {
    bytes[at] = slot;
    bytes[entries.length + at] = bucket;
    bytes[2 * entries.length + at] = count >> 8;
    bytes[3 * entries.length + at] = count & 0xff;
  });
  return bytes;
}

/** Decodes the slots of {@link encodeSlots}. */
export function decodeSlots(bytes: Uint8Array): Slots {
  const slots = new Map<number, Map<number, number>>();
  const entries = bytes.length / 4;
  for (let at = 0; at < entries; at++) {
    const [slot, bucket, high, low] = [0, 1, 2, 3].map((plane) => bytes[plane * entries + at] ?? 0);
    const histogram = slots.get(slot ?? 0) ?? new Map<number, number>();
    slots.set(slot ?? 0, histogram.set(bucket ?? 0, (high ?? 0) * 256 + (low ?? 0)));
  }
  return slots;
}
