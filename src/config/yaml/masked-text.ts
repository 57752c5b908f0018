// A configuration file as it may be shown: line by line, with everything masked that is not known to be harmless.
import type { LoadedAdapters } from '../../contract/index.ts'
import { fileViewSteps } from './excerpt.ts'
import { breath, withPauses } from './steps.ts'
import { knownKeys } from './unmasked-ranges.ts'
import { readYamlInSlices } from './yaml-text.ts'

const MOST_LINES = 5_000

/** By the keys of our own adapters in the catalog: what they do not know is masked with its value. */
export async function maskedLines(text: string, catalog: LoadedAdapters): Promise<readonly string[]> {
  const yaml = await readYamlInSlices(text, breath)
  const view = await withPauses(fileViewSteps(text, yaml, knownKeys(catalog)))
  return view.lines(MOST_LINES)
}
