// The structure inside a body: JSON whatever its type says, or a form; and one way to look into it that reaches nothing
// but what the sender wrote.
const MAX_STEPS = 32

/** Undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON whatever the type says (`curl -d` calls everything a form), else a form if it says so; undefined: neither. */
export function structured(body: string, contentType: string): unknown {
  const parsed = parseJson(body)
  if (parsed !== undefined) return parsed
  if (!contentType.toLowerCase().startsWith('application/x-www-form-urlencoded')) return undefined
  const form = new URLSearchParams(body)
  // GitHub's form type carries the same JSON in one field.
  const payload = form.get('payload')
  return (payload === null ? undefined : parseJson(payload)) ?? Object.fromEntries(form)
}

/** The steps of `a.b.0` and `a["b.c"]`; null when it is no path. */
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

/** What stands at a path; own properties only, so that `constructor` is nobody's. */
export function lookUp(data: unknown, path: string): unknown {
  let value = data
  for (const key of pathSteps(path) ?? ['']) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
