import type { Form } from './api-address.ts';

/** The ways to the same view for programs. @param address of a form */
export function Formats({
  address,
  all = 'all rows',
}: {
  readonly address: (form: Form) => string;
  /** What CSV holds. */
  readonly all?: string;
}) {
  return (
    <>
      <a href={address('json')} title="What this page shows, from the API">
        JSON
      </a>
      <a href={address('csv')} title={`As CSV: ${all}`}>
        CSV
      </a>
    </>
  );
}
