import type { Parameters } from './address.ts';

/** Hidden fields of a form, which keep the other parameters of the URL. */
export function HiddenFields({ of }: { readonly of: Parameters }) {
  return (
    <>
      {Object.entries(of).map(([name, value]) => (
        <input type="hidden" name={name} value={value} key={name} />
      ))}
    </>
  );
}
