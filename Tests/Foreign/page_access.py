"""Who may use the page of `cascadectl web`. Arguments: its address, and whether it is read-only."""
import http.client
import json
import sys
from urllib.parse import urlsplit

ADDRESS, READ_ONLY = sys.argv[1], sys.argv[2:] == ["read-only"]
PARTS = urlsplit(ADDRESS)
HOST = PARTS.netloc
TOKEN = f"/?{PARTS.query}"
PAUSE = json.dumps({})


def request(path, method="GET", body=None, **headers):
    """The status, the headers and the body. A header that is None is left out."""
    names = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection = http.client.HTTPConnection("127.0.0.1", PARTS.port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in names.items():
        if value is not None:
            connection.putheader(name, value)
    if body is not None:
        connection.putheader("content-length", str(len(body)))
    connection.endheaders(None if body is None else body.encode())
    reply = connection.getresponse()
    return reply.status, reply.headers, reply.read()


def expect(status, *arguments, **options):
    found, headers, body = request(*arguments, **options)
    assert found == status, f"{arguments} {options}: {found} instead of {status}: {body[:200]}"
    if status >= 400:
        assert len(body) < 200 and b"store" not in body and b"<" not in body, body
    return headers, body


PATHS = ["/", "/app.js", "/api/Status", "/api/live", "/nothing"]

# No token, a wrong one, another host name, another page.
for path in PATHS:
    expect(403, path)
    expect(421, path, host=f"evil.example:{PARTS.port}")
for wrong in ["/?token=", "/?token=x", f"{TOKEN}0", "/?token=" + "0" * 64]:
    expect(403, wrong)
expect(421, TOKEN, host="evil.example")
expect(403, TOKEN, origin="http://evil.example")
expect(403, TOKEN, origin="null")
expect(403, TOKEN, sec_fetch_site="cross-site", sec_fetch_mode="no-cors")
expect(403, "/api/Pause", "POST", PAUSE, origin=f"http://{HOST}", content_type="application/json")
expect(403, TOKEN, "HEAD")

# The token works once, and becomes a cookie that no script and no other site sees.
headers, _ = expect(303, TOKEN)
assert headers["location"] == "/" and PARTS.query not in headers["location"]
cookie, *rest = [part.strip() for part in headers["set-cookie"].split(";")]
assert {"HttpOnly", "SameSite=Strict"} <= set(rest), rest
expect(403, TOKEN)
expect(303, TOKEN, cookie=cookie)

headers, body = expect(200, "/", cookie=cookie)
assert b"<title>Cascade" in body and "default-src 'none'" in headers["content-security-policy"]
assert headers["x-frame-options"] == "DENY" and headers["x-content-type-options"] == "nosniff"
assert "access-control-allow-origin" not in headers
_, body = expect(200, "/api/Status", cookie=f"other=1; {cookie}")
assert json.loads(body)["stores"], body
expect(200, "/api/Status", cookie=cookie, host=f"localhost:{PARTS.port}")
expect(404, "/nothing", cookie=cookie)
expect(404, "/api/Detach", cookie=cookie)
expect(403, "/api/Status", cookie=cookie[:-1] + ("0" if cookie[-1] != "0" else "1"))

# A stolen cookie is of no use to another host name, nor to another page, nor to a form.
expect(421, "/api/Status", cookie=cookie, host=f"evil.example:{PARTS.port}")
expect(403, "/api/Status", cookie=cookie, origin="http://evil.example")
expect(403, "/api/Status", cookie=cookie, origin=f"http://127.0.0.1:{PARTS.port ^ 1}")
expect(403, "/api/Status", cookie=cookie, sec_fetch_site="same-site")
expect(403, "/app.js", cookie=cookie, sec_fetch_site="cross-site", sec_fetch_mode="no-cors")
own, json_type = f"http://{HOST}", "application/json"
expect(403, "/api/Pause", "POST", PAUSE, cookie=cookie, content_type=json_type)
expect(403, "/api/Pause", "POST", PAUSE, cookie=cookie, origin="null", content_type=json_type)
expect(403, "/api/Pause", "POST", PAUSE, cookie=cookie, origin="http://evil.example")
for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]:
    expect(403 if READ_ONLY else 415, "/api/Pause", "POST", PAUSE, cookie=cookie, origin=own,
           content_type=kind)
expect(405, "/api/Pause", "PUT", PAUSE, cookie=cookie, origin=own, content_type=json_type)
assert request("/api/Pause", cookie=cookie)[0] == 404
assert request("/api/Check?parameters=" + "%7B%22repair%22%3Atrue%7D", cookie=cookie)[0] == 405


def post(method, body=PAUSE):
    return request(f"/api/{method}", "POST", body, cookie=cookie, origin=own,
                   content_type=json_type)


if READ_ONLY:
    for method in ["Approve", "Undo", "Sweep", "Retry", "Drop", "Pause", "Resume", "Check"]:
        assert post(method)[0] == 403, method
else:
    assert post("Detach")[0] == 404
    assert post("Pause", "no JSON")[0] == 400
    assert post("Pause", "[" * 70_000)[0] == 413
    assert post("Pause")[0] == 200
    assert json.loads(request("/api/Status", cookie=cookie)[2])["stores"][0]["state"] == "paused"
    assert post("Resume")[0] == 200
    status, _, body = post("Undo", '{"batch": 77}')
    assert status == 409 and json.loads(body) == {"error": "there is no batch 77", "status": 65}
print("all as it should be")
