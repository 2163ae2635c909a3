/** A word or phrase that the project does not use. */
export interface StyleRule {
  readonly pattern: RegExp;
  readonly reason: string;
  /** Terms to use instead. */
  readonly replacement: string;
}

const PRIVATE_WORD = 'a private word that nobody searches for';
const PERSONIFICATION = 'code does not ask, tell, know or look';
const OLD_ENGLISH = 'not the usual English term';
const SHAPE = 'hard to read at first sight';

/** Words and shapes that comments, texts and documents do not use. */
export const STYLE_RULES: readonly StyleRule[] = [
  { pattern: /\bmend(s|ed|ing)?\b/i, reason: OLD_ENGLISH, replacement: 'fix' },
  { pattern: /\banew\b/i, reason: OLD_ENGLISH, replacement: 'again' },
  { pattern: /\bwholly\b/i, reason: OLD_ENGLISH, replacement: 'completely' },
  { pattern: /\b(begins?|began|begun|beginning)\b/i, reason: OLD_ENGLISH, replacement: 'start, started' },
  { pattern: /\btaken away\b|\btakes? away\b/i, reason: PRIVATE_WORD, replacement: 'dropped, removed' },
  { pattern: /\bset aside\b/i, reason: PRIVATE_WORD, replacement: 'quarantined' },
  {
    pattern: /\bso (many|much|often|long) (as|of)?\b/i,
    reason: SHAPE,
    replacement: 'Maximum …, Interval of …',
  },
  {
    pattern: /\b(is|are|was|were|be|been) told\b/i,
    reason: PERSONIFICATION,
    replacement: 'reported, sent, notified',
  },
  {
    pattern: /\b(tells?|telling) (of|who|what|how|why|which|that|it|them)\b/i,
    reason: PERSONIFICATION,
    replacement: 'reports, describes',
  },
  {
    pattern: /\b(asked|asks?) (of|about|for|wrongly|whether|it|them|again|by)\b/i,
    reason: PERSONIFICATION,
    replacement: 'requested, queried',
  },
  {
    pattern: /\b(stands?|stood|standing) (in|there|still|at|as|for|here|beside|twice)\b/i,
    reason: PERSONIFICATION,
    replacement: 'is stored, is, is stalled',
  },
  {
    pattern: /\b(looks?|looked|looking) (at|into|back|ahead)\b/i,
    reason: PERSONIFICATION,
    replacement: 'checks, reads, probes',
  },
  {
    pattern: /\bnobody\b|\bwhoever\b/i,
    reason: PERSONIFICATION,
    replacement: 'no process, unknown, the user',
  },
  { pattern: /\b(is|are|was|were) called so\b/i, reason: SHAPE, replacement: 'has this name' },
  { pattern: /\bas it (stands|is|was|were)\b/i, reason: SHAPE, replacement: 'unchanged, the current state' },
  { pattern: /\bgoes on\b|\bgo on\b|\bwent on\b/i, reason: OLD_ENGLISH, replacement: 'continues' },
  {
    pattern: /\bin the (node|service|upstream)'s own words\b|\bin words\b/i,
    reason: SHAPE,
    replacement: 'as text, as reported',
  },
  { pattern: /\bfor ever\b/i, reason: OLD_ENGLISH, replacement: 'forever, without limit' },
];
