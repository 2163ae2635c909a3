import type { StyleText } from './texts.ts';

/** A word or shape that the project does not use in texts for people. */
interface StyleRule {
  readonly pattern: RegExp;
  readonly reason: string;
  /** Terms to use instead. */
  readonly replacement: string;
}

const UNUSUAL = 'not the usual English term';
const PRIVATE = 'a private word that no reader searches for';
const PERSONIFIED = 'personification: use a technical verb';

/** Words and shapes that comments, messages, page texts and documents do not use. */
const STYLE_RULES: readonly StyleRule[] = [
  { pattern: /\bmend(s|ed|ing)?\b/i, reason: UNUSUAL, replacement: 'fix' },
  { pattern: /\banew\b/i, reason: UNUSUAL, replacement: 'again' },
  { pattern: /\bwholly\b/i, reason: UNUSUAL, replacement: 'completely' },
  { pattern: /\bfor ever\b/i, reason: UNUSUAL, replacement: 'forever, without limit' },
  {
    pattern: /(?<![.\w`]|as |@param )\b(begins|began|begun)\b(?![`,;)]| as\b)/i,
    reason: UNUSUAL,
    replacement: 'starts, started',
  },
  { pattern: /\b(goes|go|went) on\b/i, reason: UNUSUAL, replacement: 'continues, continued' },
  { pattern: /\b(taken|takes|take) away\b/i, reason: PRIVATE, replacement: 'dropped, removed' },
  { pattern: /\bagain and again\b/i, reason: UNUSUAL, replacement: 'repeatedly' },
  { pattern: /\b(tokens? (dies?|died)|dead tokens?)\b/i, reason: PRIVATE, replacement: 'the token expires' },
  { pattern: /\boracle\b/i, reason: PRIVATE, replacement: 'the expected result' },
  { pattern: /\bwiped\b/i, reason: PRIVATE, replacement: 'cleared, truncated' },
  { pattern: /\bset aside\b/i, reason: PRIVATE, replacement: 'quarantined' },
  { pattern: /\b(is|are) called so\b/i, reason: PRIVATE, replacement: 'has this name' },
  { pattern: /\bas (it|they) stands?\b/i, reason: PRIVATE, replacement: 'the current state' },
  { pattern: /\bown words\b/i, reason: PRIVATE, replacement: 'as the node reports it' },
  {
    pattern: /\b(nobody|anybody|whoever)\b/i,
    reason: PERSONIFIED,
    replacement: 'no process, no observer, every reader',
  },
  { pattern: /\btold\b(?!:)/i, reason: PERSONIFIED, replacement: 'is reported, sent, notified' },
  { pattern: /\btells?\b/i, reason: PERSONIFIED, replacement: 'reports, describes, distinguishes' },
  {
    pattern: /(?<![.\w`$]|as )\b(asks?|asked|asking)\b(?![`:)(]|\.\w)/i,
    reason: PERSONIFIED,
    replacement: 'requests, queries, prompts',
  },
  {
    pattern: /\b(stands?|stood) (in|there|still|at|for|here)\b/i,
    reason: PERSONIFIED,
    replacement: 'is stored, is, is stalled',
  },
  {
    pattern: /\b(looks?|looked|looking) (at|into)\b/i,
    reason: PERSONIFIED,
    replacement: 'checks, reads, probes',
  },
  {
    pattern: /\b(a|one|each|every|first|last|another) look\b/i,
    reason: PRIVATE,
    replacement: 'a probe, observation or reading',
  },
  {
    pattern: /^\/\*\* (What|How|Who|Of|So|Such)\b/,
    reason: 'no start of a doc comment',
    replacement: '"Returns …", "Maximum …", "Time of …"',
  },
];

/** Returns the problems of a text, each with its place, reason and replacement. */
export function findStyleProblems({ path, line, text }: StyleText): string[] {
  return STYLE_RULES.flatMap(({ pattern, reason, replacement }) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [`${path}:${line}: "${found.trim()}" is ${reason}; use ${replacement}`];
  });
}
