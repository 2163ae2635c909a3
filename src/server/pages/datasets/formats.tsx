import type { DataFormat } from './api-address.ts';

/**
 * Links to the data of a page as JSON and CSV.
 * @param address returns the URL of a format
 */
export function Formats({
  address,
  all = 'all rows',
}: {
  readonly address: (form: DataFormat) => string;
  /** Description of the content of CSV. */
  readonly all?: string;
}) {
  return (
    <>
      <a href={address('json')} title="The data of this page, from the API">
        JSON
      </a>
      <a href={address('csv')} title={`As CSV: ${all}`}>
        CSV
      </a>
    </>
  );
}
