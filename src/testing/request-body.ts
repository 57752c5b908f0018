// Reads the body of a request to a fake platform: JSON, a form, multipart, or the query. Form values that are objects
// are JSON, as in the Bot API and Slack.

export interface UploadedFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Buffer
}

export interface CallBody {
  readonly params: Readonly<Record<string, unknown>>
  readonly files: Readonly<Record<string, UploadedFile>>
}

/** Returns null for a body that claims to be JSON and is not. */
export function readBody(contentType: string, body: Buffer, query: URLSearchParams): CallBody | null {
  const base = fromForm(query)
  if (contentType.startsWith('application/json')) {
    if (body.length === 0) return { params: base, files: {} }
    try {
      return { params: { ...base, ...(JSON.parse(body.toString('utf8')) as object) }, files: {} }
    } catch {
      return null
    }
  }
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(contentType)?.[1]
  if (boundary !== undefined) return multipart(body, boundary, base)
  return { params: { ...base, ...fromForm(new URLSearchParams(body.toString('utf8'))) }, files: {} }
}

function fromForm(form: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries([...form].map(([key, value]) => [key, formValue(value)]))
}

function formValue(value: string): unknown {
  if (!/^[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function multipart(body: Buffer, boundary: string, base: Record<string, unknown>): CallBody {
  const params = { ...base }
  const files: Record<string, UploadedFile> = {}
  const marker = Buffer.from(`--${boundary}`)
  for (let at = body.indexOf(marker); at !== -1; ) {
    const next = body.indexOf(marker, at + marker.length)
    if (next === -1) break
    const part = body.subarray(at + marker.length + 2, next - 2)
    const end = part.indexOf('\r\n\r\n')
    const head = part.subarray(0, end).toString('utf8')
    const content = part.subarray(end + 4)
    const name = /name="([^"]*)"/i.exec(head)?.[1] ?? ''
    const filename = /filename="?([^"\r\n]*)"?/i.exec(head)?.[1]
    if (filename === undefined) params[name] = formValue(content.toString('utf8'))
    else {
      const mime = /content-type:\s*([^\s;]+)/i.exec(head)?.[1] ?? 'application/octet-stream'
      files[name] = { name: filename, mime, bytes: Buffer.from(content) }
    }
    at = next
  }
  return { params, files }
}
