export interface Import {
  /** Paths from the project's root, such as `src/kernel/clock.ts`. */
  readonly file: string;
  readonly specifier: string;
  /** The file that is imported; null for a package. */
  readonly target: string | null;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
  readonly names: readonly string[] | null;
}
export interface Function {
  readonly file: string;
  readonly name: string;
  readonly at: number;
  readonly lines: number;
}
export function filesIn(folder: string): string[];
export function importsOf(file: string): Import[];
export function functionsOf(file: string): Function[];
export function circlesOf(imports: readonly Import[]): string[][];
export function folderCirclesOf(imports: readonly Import[]): string[][];
export function reachesOf(imports: readonly Import[]): Import[];
export function throughFaces(imports: readonly Import[]): Import[];
