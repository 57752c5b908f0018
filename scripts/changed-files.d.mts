// The types of the script for its tests.
export function changedFiles(
  root: string,
  flag: string,
): { readonly since: string; readonly changed: readonly string[]; readonly reached: readonly string[] }
