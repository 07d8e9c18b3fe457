export { findChromium } from './chromium.ts';
export { click, free, isClicked, isPressed } from './click.ts';
export * from './outcomes.ts';
export * from './read.ts';
export * from './redact.ts';
export * from './steps.ts';
export * from './visit.ts';
export { isSeen, pause, shown, until, type Walk } from './walk.ts';
