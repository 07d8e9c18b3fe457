// Links one relocatable BPF object, as stock clang makes it, into the shared object that Solana's loader takes
// (SBPF version 0). The output depends on the object's code and read-only data alone: no path, no time.
//
//     node link.mjs escrow.o escrow.so
//
// What the loader asks for: ET_DYN for machine 247, every section's address equal to its offset in the file,
// read-only data seen by the program at 0x1_0000_0000 plus that offset, and a system call written as a dynamic
// relocation of type R_BPF_64_32 against an undefined symbol of its name.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const PROGRAM_REGION = 0x1_0000_0000n;
const EM_BPF = 247;
const R_BPF_64_64 = 1;
const R_BPF_64_32 = 10;
const SHT = { PROGBITS: 1, SYMTAB: 2, STRTAB: 3, RELA: 4, DYNAMIC: 6, REL: 9, DYNSYM: 11 };
const SHF = { WRITE: 1, ALLOC: 2, EXECINSTR: 4 };
const DT = { NULL: 0, STRTAB: 5, SYMTAB: 6, STRSZ: 10, SYMENT: 11, REL: 17, RELSZ: 18, RELENT: 19 };
const EHDR = 64;
const PHDR = 56;
const SHDR = 64;

const align = (value, to) => Math.ceil(value / to) * to;

function text(table, offset) {
  return table.toString('latin1', offset, table.indexOf(0, offset));
}

/** A string table, and where each string lies in it. */
function stringTable(strings) {
  let bytes = '\0';
  const offsets = new Map([['', 0]]);
  for (const string of strings) {
    if (offsets.has(string)) continue;
    offsets.set(string, bytes.length);
    bytes += `${string}\0`;
  }
  return { bytes: Buffer.from(bytes, 'latin1'), offsets };
}

/** @param {Buffer} object */
export function readObject(object) {
  if (object.readUInt32BE(0) !== 0x7f454c46 || object[4] !== 2 || object[5] !== 1)
    throw new Error('not a little-endian ELF64 file');
  if (object.readUInt16LE(16) !== 1 || object.readUInt16LE(18) !== EM_BPF)
    throw new Error('not a relocatable BPF object');
  const tableAt = Number(object.readBigUInt64LE(40));
  const sections = Array.from({ length: object.readUInt16LE(60) }, (_, index) => {
    const at = tableAt + index * SHDR;
    const offset = Number(object.readBigUInt64LE(at + 24));
    const size = Number(object.readBigUInt64LE(at + 32));
    return {
      index,
      nameAt: object.readUInt32LE(at),
      type: object.readUInt32LE(at + 4),
      flags: Number(object.readBigUInt64LE(at + 8)),
      bytes: object.subarray(offset, offset + size),
      link: object.readUInt32LE(at + 40),
      info: object.readUInt32LE(at + 44),
      align: Math.max(1, Number(object.readBigUInt64LE(at + 48))),
    };
  });
  const names = sections[object.readUInt16LE(62)].bytes;
  for (const section of sections) section.name = text(names, section.nameAt);

  const symtab = sections.find((section) => section.type === SHT.SYMTAB);
  if (!symtab) throw new Error('no symbol table');
  const symbols = Array.from({ length: symtab.bytes.length / 24 }, (_, index) => ({
    name: text(sections[symtab.link].bytes, symtab.bytes.readUInt32LE(index * 24)),
    section: symtab.bytes.readUInt16LE(index * 24 + 6),
    value: Number(symtab.bytes.readBigUInt64LE(index * 24 + 8)),
  }));
  return { sections, symbols };
}

/** The parts of the object that are loaded. Anything writable is refused: a program has no data segment. */
function loadedSections(sections) {
  const loaded = sections.filter((section) => section.flags & SHF.ALLOC && section.bytes.length > 0);
  for (const section of loaded) {
    const known = section.name === '.text' || section.name.startsWith('.rodata');
    if (!known || section.flags & SHF.WRITE || section.type !== SHT.PROGBITS)
      throw new Error(`section ${section.name} cannot be loaded`);
  }
  const code = loaded.filter((section) => section.name === '.text');
  if (code.length !== 1) throw new Error('exactly one .text is expected');
  return { code: code[0], constants: loaded.filter((section) => section.name.startsWith('.rodata')) };
}

/** Every `.rodata*` one after the other, each where its alignment wants it. */
function mergeConstants(constants) {
  const offsets = new Map();
  let length = 0;
  for (const section of constants) {
    length = align(length, section.align);
    offsets.set(section.index, length);
    length += section.bytes.length;
  }
  const bytes = Buffer.alloc(align(length, 8));
  for (const section of constants) section.bytes.copy(bytes, offsets.get(section.index));
  return { bytes, offsets };
}

/** Writes addresses and internal calls into `code`; returns the system calls that are left to the loader. */
function relocate(code, { sections, symbols }, { codeAt, constantsAt, constants, codeIndex }) {
  const systemCalls = [];
  for (const table of sections.filter((section) => section.info === codeIndex)) {
    if (table.type === SHT.RELA) throw new Error('relocations with addends are not expected');
    if (table.type !== SHT.REL) continue;
    for (let at = 0; at < table.bytes.length; at += 16) {
      const offset = Number(table.bytes.readBigUInt64LE(at));
      const type = table.bytes.readUInt32LE(at + 8);
      const symbol = symbols[table.bytes.readUInt32LE(at + 12)];
      if (type === R_BPF_64_64) {
        const base = constants.offsets.get(symbol.section);
        if (base === undefined) throw new Error(`address of ${symbol.name}, which is not read-only data`);
        const addend = code.readUInt32LE(offset + 4);
        const address = PROGRAM_REGION + BigInt(constantsAt + base + symbol.value + addend);
        code.writeUInt32LE(Number(address & 0xffffffffn), offset + 4);
        code.writeUInt32LE(Number(address >> 32n), offset + 12);
      } else if (type === R_BPF_64_32 && symbol.section === 0) {
        systemCalls.push({ at: codeAt + offset, name: symbol.name });
      } else if (type === R_BPF_64_32 && symbol.section === codeIndex) {
        // Relative to the next instruction, in instructions. A section symbol has its addend in the code.
        const target = symbol.name === '' ? code.readInt32LE(offset + 4) + 1 : symbol.value / 8;
        code.writeInt32LE(target - (offset / 8 + 1), offset + 4);
      } else {
        throw new Error(`relocation ${type} against ${symbol.name} is not known`);
      }
    }
  }
  return systemCalls;
}

function symbolEntry(nameAt, info, section, value) {
  const entry = Buffer.alloc(24);
  entry.writeUInt32LE(nameAt, 0);
  entry[4] = info;
  entry.writeUInt16LE(section, 6);
  entry.writeBigUInt64LE(BigInt(value), 8);
  return entry;
}

function words(...values) {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => {
    bytes.writeBigUInt64LE(BigInt(value), index * 8);
  });
  return bytes;
}

/**
 * @param {Buffer} bytes of the relocatable object
 * @returns {Buffer} the shared object
 */
export function link(bytes) {
  const object = readObject(bytes);
  const loaded = loadedSections(object.sections);
  const entry = object.symbols.find((symbol) => symbol.name === 'entrypoint');
  if (entry?.section !== loaded.code.index) throw new Error('no function named entrypoint');

  const code = Buffer.from(loaded.code.bytes);
  const constants = mergeConstants(loaded.constants);
  const codeAt = EHDR + 3 * PHDR;
  const constantsAt = align(codeAt + code.length, 16);
  const calls = relocate(code, object, { codeAt, constantsAt, constants, codeIndex: loaded.code.index });

  const names = [...new Set(calls.map((call) => call.name))];
  const strings = stringTable([...names, 'entrypoint']);
  const symbols = Buffer.concat([
    symbolEntry(0, 0, 0, 0),
    ...names.map((name) => symbolEntry(strings.offsets.get(name), 0x10, 0, 0)),
    symbolEntry(strings.offsets.get('entrypoint'), 0x12, 1, codeAt + entry.value),
  ]);
  const relocations = words(
    ...calls.flatMap((call) => [
      call.at,
      (BigInt(names.indexOf(call.name) + 1) << 32n) | BigInt(R_BPF_64_32),
    ]),
  );

  const symbolsAt = constantsAt + constants.bytes.length;
  const stringsAt = symbolsAt + symbols.length;
  const relocationsAt = align(stringsAt + strings.bytes.length, 8);
  const dynamicAt = relocationsAt + relocations.length;
  const dynamic = words(
    ...[DT.REL, relocationsAt, DT.RELSZ, relocations.length, DT.RELENT, 16],
    ...[
      DT.SYMTAB,
      symbolsAt,
      DT.SYMENT,
      24,
      DT.STRTAB,
      stringsAt,
      DT.STRSZ,
      strings.bytes.length,
      DT.NULL,
      0,
    ],
  );
  const loadedEnd = dynamicAt + dynamic.length;

  const headerNames = ['.text', '.rodata', '.dynsym', '.dynstr', '.rel.dyn', '.dynamic', '.shstrtab'];
  const sectionNames = stringTable(headerNames);
  const { ALLOC, EXECINSTR } = SHF;
  // name, type, flags, place, bytes, link, info, alignment, entry size
  const parts = [
    ['.text', SHT.PROGBITS, ALLOC | EXECINSTR, codeAt, code, 0, 0, 8, 0],
    ['.rodata', SHT.PROGBITS, ALLOC, constantsAt, constants.bytes, 0, 0, 16, 0],
    ['.dynsym', SHT.DYNSYM, ALLOC, symbolsAt, symbols, 4, 1, 8, 24],
    ['.dynstr', SHT.STRTAB, ALLOC, stringsAt, strings.bytes, 0, 0, 1, 0],
    ['.rel.dyn', SHT.REL, ALLOC, relocationsAt, relocations, 3, 0, 8, 16],
    ['.dynamic', SHT.DYNAMIC, ALLOC, dynamicAt, dynamic, 4, 0, 8, 16],
    ['.shstrtab', SHT.STRTAB, 0, loadedEnd, sectionNames.bytes, 0, 0, 1, 0],
  ];
  const headersAt = align(loadedEnd + sectionNames.bytes.length, 8);
  const file = Buffer.alloc(headersAt + SHDR * (parts.length + 1));
  parts.forEach(([name, type, flags, at, content, linked, info, alignment, entrySize], index) => {
    content.copy(file, at);
    const header = headersAt + SHDR * (index + 1);
    file.writeUInt32LE(sectionNames.offsets.get(name), header);
    file.writeUInt32LE(type, header + 4);
    words(flags, flags & ALLOC ? at : 0, at, content.length).copy(file, header + 8);
    file.writeUInt32LE(linked, header + 40);
    file.writeUInt32LE(info, header + 44);
    words(alignment, entrySize).copy(file, header + 48);
  });

  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(file);
  file.writeUInt16LE(3, 16); // ET_DYN
  file.writeUInt16LE(EM_BPF, 18);
  file.writeUInt32LE(1, 20);
  words(codeAt + entry.value, EHDR, headersAt).copy(file, 24);
  [EHDR, PHDR, 3, SHDR, parts.length + 1, parts.length].forEach((value, index) => {
    file.writeUInt16LE(value, 52 + index * 2);
  });
  // type, flags (4 read, 1 execute), place, length
  const segments = [
    [1, 5, codeAt, code.length],
    [1, 4, constantsAt, loadedEnd - constantsAt],
    [2, 4, dynamicAt, dynamic.length],
  ];
  segments.forEach(([type, flags, at, length], index) => {
    file.writeUInt32LE(type, EHDR + index * PHDR);
    file.writeUInt32LE(flags, EHDR + index * PHDR + 4);
    words(at, at, at, length, length, 8).copy(file, EHDR + index * PHDR + 8);
  });
  return file;
}

const [script, from, to] = process.argv.slice(1);
if (script && from && to && import.meta.url === pathToFileURL(realpathSync(script)).href)
  writeFileSync(to, link(readFileSync(from)));
