// Finds what Discord refuses in a message: lengths, empty messages, components, nonces. It follows Discord's
// documentation.
import { type Answer, badForm, refuse } from './route.ts'

const LIMIT = 2_000

type Fields = Readonly<Record<string, unknown>>

/** Returns null for a valid message. `files` is the number of attached files. */
export function messageProblem(body: Fields, files: number): Answer | null {
  const { content, embeds, components, nonce, poll, sticker_ids } = body
  if (content !== undefined && content !== null && typeof content !== 'string')
    return badForm(['content'], 'BASE_TYPE_STRING', 'Must be a string')
  if (typeof content === 'string' && content.length > LIMIT)
    return badForm(['content'], 'BASE_TYPE_MAX_LENGTH', 'Must be 2000 or fewer in length.')
  if (nonce !== undefined && String(nonce).length > 25)
    return badForm(['nonce'], 'BASE_TYPE_MAX_LENGTH', 'Must be 25 or fewer in length.')
  if (Array.isArray(embeds) && embeds.length > 10)
    return badForm(['embeds'], 'BASE_TYPE_MAX_LENGTH', 'Must be 10 or fewer in length.')
  const problem = componentsProblem(components)
  if (problem !== null) return problem
  const has = (value: unknown) => Array.isArray(value) && value.length > 0
  const isEmpty = (content ?? '') === '' || String(content).trim() === ''
  if (isEmpty && !has(embeds) && !has(components) && !has(sticker_ids) && poll === undefined && files === 0)
    return refuse(400, 50006)
  return null
}

function componentsProblem(components: unknown): Answer | null {
  if (components === undefined || components === null) return null
  if (!Array.isArray(components))
    return badForm(['components'], 'LIST_TYPE_CONVERT', 'Only iterables may be used')
  if (components.length > 5)
    return badForm(['components'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 5 in length.')
  const seen = new Set<string>()
  for (const [at, row] of (components as readonly Fields[]).entries()) {
    const inner = Array.isArray(row?.components) ? (row.components as readonly Fields[]) : []
    if (row?.type !== 1 || inner.length === 0 || inner.length > 5)
      return badForm(
        ['components', String(at), 'components'],
        'BASE_TYPE_BAD_LENGTH',
        'Must be between 1 and 5 in length.',
      )
    for (const [place, one] of inner.entries()) {
      const path = ['components', String(at), 'components', String(place)]
      const id = one.custom_id
      if (one.type === 2 && one.style !== 5) {
        if (typeof id !== 'string' || id.length < 1 || id.length > 100)
          return badForm(
            [...path, 'custom_id'],
            'BASE_TYPE_BAD_LENGTH',
            'Must be between 1 and 100 in length.',
          )
        if (typeof one.label === 'string' && one.label.length > 80)
          return badForm([...path, 'label'], 'BASE_TYPE_MAX_LENGTH', 'Must be 80 or fewer in length.')
        if (one.label === undefined && one.emoji === undefined)
          return badForm(path, 'BUTTON_COMPONENT_REQUIRED', 'A button needs a label or an emoji')
      }
      if (typeof id === 'string' && seen.has(id))
        return badForm(
          [...path, 'custom_id'],
          'COMPONENT_CUSTOM_ID_DUPLICATED',
          'Component custom id cannot be duplicated',
        )
      if (typeof id === 'string') seen.add(id)
    }
  }
  return null
}
