/** Keys of JavaScript's own objects, which are not names of settings. */
const RESERVED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Settings with texts of several lines. */
const MULTILINE_SETTINGS = new Set(['sql', 'body']);

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/**
 * Returns content that is invalid in any setting, each problem with its path: reserved keys, and control
 * characters or line breaks in single-line texts, which end up in headers, URLs and addresses.
 */
export function findUnsafeValues(value: unknown, path = '', name = ''): string[] {
  if (typeof value === 'string') {
    if (MULTILINE_SETTINGS.has(name) || !CONTROL_CHARACTER.test(value)) return [];
    return [`${path}: must be one line without control characters`];
  }
  if (Array.isArray(value))
    return value.flatMap((element, at) => findUnsafeValues(element, `${path}[${at}]`, name));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = path === '' ? key : `${path}.${key}`;
    return RESERVED_KEYS.has(key) ? [`${place}: no such setting`] : findUnsafeValues(inner, place, key);
  });
}
