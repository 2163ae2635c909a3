import type { Parameters } from './address.ts';

/** What a form sends beside its own fields, so that the rest of the address stays. */
export function Hidden({ of }: { readonly of: Parameters }) {
  return (
    <>
      {Object.entries(of).map(([name, value]) => (
        <input type="hidden" name={name} value={value} key={name} />
      ))}
    </>
  );
}
