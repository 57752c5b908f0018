// The structure of a body: JSON with any content type, or a form. Looking into it reaches only what the sender wrote.
const MAX_STEPS = 32

/** Undefined when it is not JSON. A whole number beyond a double's precision becomes text, so that ids stay exact. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(exactNumbers(text))
  } catch {
    return undefined
  }
}

/** Puts whole numbers beyond 2^53 into quotes. Linear: each character is read once. */
function exactNumbers(text: string): string {
  if (!/\d{16}/.test(text)) return text
  const token = /"|-?[1-9]\d{15,}/g
  const pieces: string[] = []
  let kept = 0
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    const [piece] = found
    const end = found.index + piece.length
    if (piece === '"') token.lastIndex = endOfString(text, end)
    else if (isWhole(text[found.index - 1], text[end]) && !Number.isSafeInteger(Number(piece))) {
      pieces.push(text.slice(kept, found.index), '"', piece, '"')
      kept = end
    }
  }
  return kept === 0 ? text : pieces.join('') + text.slice(kept)
}

/** Whether it is a whole number, without a fraction or an exponent beside it. */
function isWhole(before = '', after = ''): boolean {
  return !/[\d.eE+-]/.test(before) && !/[\d.eE]/.test(after)
}

function endOfString(text: string, from: number): number {
  const mark = /["\\]/g
  mark.lastIndex = from
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    if (found[0] === '"') return mark.lastIndex
    mark.lastIndex += 1
  }
  return text.length
}

/** Tries JSON for every content type (`curl -d` labels everything as a form), then a form. Undefined: neither. */
export function structured(body: string, contentType: string): unknown {
  const parsed = parseJson(body)
  if (parsed !== undefined) return parsed
  if (!contentType.toLowerCase().startsWith('application/x-www-form-urlencoded')) return undefined
  const form = new URLSearchParams(body)
  // GitHub's form type carries the same JSON in one field.
  const payload = form.get('payload')
  return (payload === null ? undefined : parseJson(payload)) ?? Object.fromEntries(form)
}

/** Returns the steps of `a.b.0` and `a["b.c"]`; null when it is not a path. */
export function pathSteps(path: string): readonly string[] | null {
  const steps: string[] = []
  const step = /\.?([^.[\]"']+)|\[\s*(?:"([^"]*)"|'([^']*)'|(\d+))\s*\]/gy
  while (step.lastIndex < path.length) {
    const found = step.exec(path)
    if (found === null || steps.length === MAX_STEPS) return null
    steps.push(found[1] ?? found[2] ?? found[3] ?? found[4] ?? '')
  }
  return steps.length === 0 ? null : steps
}

/** Returns the value at a path. Only own properties count, so `constructor` is never found. */
export function lookUp(data: unknown, path: string): unknown {
  let value = data
  for (const key of pathSteps(path) ?? ['']) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
