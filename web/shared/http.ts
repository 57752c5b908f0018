// Calls the gateway from a page: JSON in, JSON out. No answer of the server throws.
import { words } from './words.ts'

export interface Answer {
  readonly status: number
  /** True only for the gateway's own answer. A proxy's page with a good status does not count. */
  readonly ok: boolean
  readonly body: Readonly<Record<string, unknown>>
  /** The gateway's code of the error. Null: a proxy answered, or no server did. */
  readonly code: string | null
  /** The server's own words of the error. */
  readonly problem: string
  readonly retryAfterMs: number | null
}

/** Resolves with status 0 if the server could not be reached. */
export async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> {
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      // The gateway never redirects. A proxy may redirect to its sign-in page, which answers 200.
      redirect: 'error',
      ...(method === 'GET'
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) }),
      signal: AbortSignal.timeout(20_000),
    })
    const text = await response.text()
    return answer(response.status, text, response.headers.get('retry-after'))
  } catch {
    return answer(0, '', null)
  }
}

/** Sends a file as it is, and reports the progress. */
export function upload(path: string, file: File, onProgress: (share: number) => void): Promise<Answer> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    request.setRequestHeader('content-type', file.type || 'application/octet-stream')
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total)
    }
    request.onload = () =>
      resolve(answer(request.status, request.responseText, request.getResponseHeader('retry-after')))
    request.onerror = () => resolve(answer(0, '', null))
    request.send(file)
  })
}

function answer(status: number, text: string, retryAfter: string | null): Answer {
  const found = objectIn(text)
  const body = found ?? {}
  const told = refusal(body)
  const fine = status >= 200 && status < 300
  const seconds = Number(retryAfter)
  return {
    status,
    ok: fine && found !== null,
    body,
    code: told.code,
    problem: told.message ?? (status === 0 || fine ? words.http.unreachable : words.http.status({ status })),
    retryAfterMs: retryAfter !== null && Number.isFinite(seconds) ? seconds * 1_000 : null,
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    const plain = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    return plain ? (parsed as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}

// There are two forms: the chat's, and the server's, which answers before the chat does.
function refusal(body: Readonly<Record<string, unknown>>): {
  readonly code: string | null
  readonly message: string | null
} {
  const { error } = body
  const [code, message] =
    typeof error === 'object' && error !== null
      ? [(error as Record<string, unknown>).code, (error as Record<string, unknown>).message]
      : [body.code, error]
  return {
    code: typeof code === 'string' ? code : null,
    message: typeof message === 'string' ? message : null,
  }
}
