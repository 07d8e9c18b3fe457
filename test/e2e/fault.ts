import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { isHere } from '../needs.mjs';

const COMPILERS = ['cc', 'clang-19'];

/** Compiles fault.c into a folder. @returns the library, null where there is no C compiler for Linux */
export function faultLibrary(folder: string): string | null {
  const made = join(folder, 'fault.so');
  const source = resolve(import.meta.dirname, 'fault.c');
  const compiles = (compiler: string) =>
    spawnSync(compiler, ['-shared', '-fPIC', '-o', made, source, '-ldl']).status === 0;
  if (process.platform !== 'linux') return null;
  return isHere('a C compiler', COMPILERS.some(compiles)) ? made : null;
}
