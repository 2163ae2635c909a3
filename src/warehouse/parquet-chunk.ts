import type { ColumnChunk, Encoding, OffsetIndex, PageHeader, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { endOf, type StoredColumn } from './parquet-column.ts';

/** A page ends behind so many bytes. */
const PAGE = 1 << 20;

/** How pages are compressed. */
export interface Codec {
  readonly name: 'ZSTD' | 'SNAPPY';
  readonly compress: (bytes: Uint8Array) => Uint8Array;
}

/** What a file says of a column of a row group. */
export interface Chunk {
  readonly chunk: ColumnChunk;
  /** Where its pages stand, where there are several. */
  readonly offsetIndex?: OffsetIndex;
}

/**
 * Writes the pages of a column of a row group: by numbers of a dictionary where that at least halves it, else each value.
 * @param column its name and its types
 */
export function writeChunk(
  writer: ByteWriter,
  { name, type = 'BYTE_ARRAY', repetition_type }: SchemaElement,
  stored: StoredColumn,
  codec: Codec,
): Chunk {
  const { rows, values, ends, least, greatest } = stored;
  const begin = writer.offset;
  const pages = new Pages(writer, codec);
  const { encoding, byteOf } = encodingOf(type, stored);
  const nullable = repetition_type === 'OPTIONAL';
  let dictionaryAt: number | undefined;
  if (encoding === 'RLE_DICTIONARY') {
    dictionaryAt = writer.offset;
    pages.write('DICTIONARY_PAGE', new Uint8Array(), values, {
      dictionary_page_header: { num_values: ends.length, encoding: 'PLAIN' },
    });
  }
  const dataAt = writer.offset;
  const locations: OffsetIndex['page_locations'] = [];
  let nulls = 0;
  for (let first = 0; first < rows.length; ) {
    const at = writer.offset;
    const end = pageEnd(rows, first, byteOf);
    const page = rows.subarray(first, end);
    const there = nullable ? present(page) : page;
    const levels = nullable ? levelsOf(page) : new Uint8Array();
    pages.write('DATA_PAGE_V2', levels, encoded(encoding, there, stored), {
      data_page_header_v2: {
        num_values: page.length,
        num_nulls: page.length - there.length,
        num_rows: page.length,
        encoding,
        definition_levels_byte_length: levels.length,
        repetition_levels_byte_length: 0,
        is_compressed: true,
      },
    });
    nulls += page.length - there.length;
    locations.push({
      offset: BigInt(at),
      compressed_page_size: writer.offset - at,
      first_row_index: BigInt(first),
    });
    first = end;
  }
  return {
    chunk: {
      meta_data: {
        type,
        encodings: dictionaryAt === undefined ? [encoding] : ['PLAIN', encoding],
        path_in_schema: [name],
        codec: codec.name,
        num_values: BigInt(rows.length),
        total_compressed_size: BigInt(writer.offset - begin),
        total_uncompressed_size: BigInt(pages.uncompressed),
        data_page_offset: BigInt(dataAt),
        ...(dictionaryAt !== undefined && { dictionary_page_offset: BigInt(dictionaryAt) }),
        statistics: {
          null_count: BigInt(nulls),
          ...(least !== undefined && { min_value: least }),
          ...(greatest !== undefined && { max_value: greatest }),
        },
      },
      file_offset: BigInt(begin),
    },
    ...(locations.length > 1 && { offsetIndex: { page_locations: locations } }),
  };
}

class Pages {
  readonly #writer: ByteWriter;
  readonly #codec: Codec;
  uncompressed = 0;

  constructor(writer: ByteWriter, codec: Codec) {
    this.#writer = writer;
    this.#codec = codec;
  }

  write(
    type: PageHeader['type'],
    levels: Uint8Array,
    bytes: Uint8Array,
    header: Omit<PageHeader, 'type' | 'uncompressed_page_size' | 'compressed_page_size'>,
  ): void {
    const compressed = this.#codec.compress(bytes);
    const begin = this.#writer.offset;
    writePageHeader(this.#writer, {
      type,
      uncompressed_page_size: levels.length + bytes.length,
      compressed_page_size: levels.length + compressed.length,
      ...header,
    });
    this.uncompressed += this.#writer.offset - begin + levels.length + bytes.length;
    this.#writer.appendBytes(levels);
    this.#writer.appendBytes(compressed);
  }
}

/** How the values of a column are encoded, and how many bytes that of a place takes. */
function encodingOf(
  type: SchemaElement['type'],
  { rows, values, ends }: StoredColumn,
): { readonly encoding: Encoding; readonly byteOf: (place: number) => number } {
  const sizeOf = (place: number) => endOf(ends, place) - endOf(ends, place - 1);
  if (type === 'BOOLEAN') return { encoding: 'RLE', byteOf: () => 1 / 8 };
  let plain = 0;
  for (const place of rows) if (place >= 0) plain += sizeOf(place);
  const each = widthOf(ends.length) / 8;
  return ends.length > 0 && 2 * (values.length + rows.length * each) <= plain
    ? { encoding: 'RLE_DICTIONARY', byteOf: () => each }
    : { encoding: 'PLAIN', byteOf: sizeOf };
}

/** Bits of the number of one of so many values. */
const widthOf = (distinct: number) => Math.ceil(Math.log2(Math.max(1, distinct)));

/** The row before which a page ends that begins with `first`. */
function pageEnd(rows: Int32Array, first: number, byteOf: (place: number) => number): number {
  let size = 0;
  let end = first;
  while (end < rows.length && size < PAGE) {
    const place = rows[end] ?? -1;
    if (place >= 0) size += byteOf(place);
    end += 1;
  }
  return end;
}

/** The places of the rows that have a value. */
function present(rows: Int32Array): Int32Array {
  const places = new Int32Array(rows.length);
  let count = 0;
  for (const place of rows) {
    if (place < 0) continue;
    places[count] = place;
    count += 1;
  }
  return places.subarray(0, count);
}

/** Which rows have a value, as Parquet counts it. */
function levelsOf(rows: Int32Array): Uint8Array {
  const bytes = new ByteWriter();
  const levels = new Uint8Array(rows.length);
  for (let at = 0; at < rows.length; at += 1) levels[at] = (rows[at] ?? -1) < 0 ? 0 : 1;
  writeRleBitPackedHybrid(bytes, levels, 1);
  return bytes.getBytes();
}

function encoded(encoding: Encoding, places: Int32Array, { values, ends }: StoredColumn): Uint8Array {
  const bytes = new ByteWriter();
  switch (encoding) {
    case 'RLE_DICTIONARY': {
      const width = widthOf(ends.length);
      bytes.appendUint8(width);
      writeRleBitPackedHybrid(bytes, places, width);
      return bytes.getBytes();
    }
    case 'RLE': {
      bytes.appendUint32(0);
      writeRleBitPackedHybrid(
        bytes,
        places.map((place) => values[place] ?? 0),
        1,
      );
      bytes.view.setUint32(0, bytes.offset - 4, true);
      return bytes.getBytes();
    }
    default:
      return plain(places, values, ends);
  }
}

function plain(places: Int32Array, values: Buffer, ends: Int32Array): Uint8Array {
  const [first = 0] = places;
  // Values of which none came twice stand in their order already.
  if (places.every((place, at) => place === first + at))
    return values.subarray(endOf(ends, first - 1), endOf(ends, first - 1 + places.length));
  let size = 0;
  for (const place of places) size += endOf(ends, place) - endOf(ends, place - 1);
  const bytes = Buffer.allocUnsafe(size);
  let to = 0;
  for (const place of places) {
    const end = endOf(ends, place);
    for (let from = endOf(ends, place - 1); from < end; from += 1, to += 1) bytes[to] = values[from] ?? 0;
  }
  return bytes;
}
