// `switchboard schema`: the JSON Schema of switchboard.yaml, so that an editor can complete and check it. It includes the
// adapters of the `modules` that the file in force names.
import { configurationJsonSchema } from '../../../config/schema/json-schema.ts'
import { openCatalog } from '../../../setup/catalog.ts'
import type { Run } from '../../context.ts'
import { oneLine } from '../../output/text.ts'

export const schema: Run = async (context) => {
  const { loaded, problems } = await openCatalog(context.configFile())
  for (const problem of problems) context.warn(oneLine(problem))
  const value = configurationJsonSchema(loaded)
  if (context.json) await context.printJson(value)
  else await context.print(JSON.stringify(value, null, 2))
  return 0
}
