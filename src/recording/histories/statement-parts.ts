/** Value of a statement parameter, which PostgreSQL parses from its text. */
export type Parameter = string | number | boolean | null;

/**
 * A statement under construction. Each parameter is declared where the SQL uses it, with a function that
 * reads its value from an input. So the text is built once and executed with many inputs.
 */
export class Statement<Input> {
  readonly #reads: ((input: Input) => Parameter)[] = [];

  /**
   * Declares a parameter.
   * @returns its placeholder, cast to `type`
   */
  param(type: string, read: (input: Input) => Parameter): string {
    this.#reads.push(read);
    return `$${this.#reads.length}::${type}`;
  }

  /**
   * Returns the parameters of one execution as texts, because the driver prepares a statement again for
   * parameters of other types.
   */
  values(input: Input): (string | null)[] {
    return this.#reads.map((read) => {
      const value = read(input);
      return value === null ? null : String(value);
    });
  }
}
