export * from './allowance.ts';
export * from './next.ts';
export { withheld } from './output.ts';
export { bounded, type CommandLine, commandLineOf, toolCommands, toolName, toolOf } from './tools.ts';
