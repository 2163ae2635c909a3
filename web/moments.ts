/**
 * Replaces text fields for moments (`data-control`) with the date controls of the browser if these use ISO
 * 8601.
 */
const formatted = new Intl.DateTimeFormat(undefined, { dateStyle: 'short' }).format(new Date(2001, 1, 3));
for (const field of document.querySelectorAll<HTMLInputElement>('input[data-control]')) {
  // The control does not support microseconds.
  if (formatted !== '2001-02-03' || /\.\d{4}/.test(field.value)) continue;
  const moment = field.value.replace(' ', 'T');
  field.type = field.dataset.control ?? 'text';
  field.step = field.type === 'date' ? '1' : 'any';
  field.value = moment;
}
