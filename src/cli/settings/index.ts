export * from './cluster.ts';
export { isProfileName, OUTSIDE, type SettingValues, type UserSettings } from './file.ts';
export * from './profile.ts';
export * from './read.ts';
export * from './resolve.ts';
export {
  CLUSTER_OUTSIDE,
  checkVariables,
  isKept,
  KEPT_NAMES,
  type KeptName,
  type Part,
  SETTING_NAMES,
  type Setting,
  type SettingName,
} from './table.ts';
export { changeUserSettings } from './write.ts';

export const loadProfile = () => import('./profile.ts');
export const loadResolve = () => import('./resolve.ts');
export const loadTable = () => import('./table.ts');
export const loadWrite = () => import('./write.ts');
