"""MediaWiki of Debian's package, in a directory of its own, with a wiki in SQLite beside it."""
import os
import pathlib
import shutil
import struct
import subprocess
import zlib

FILL = pathlib.Path(__file__).resolve().with_suffix(".php")
# Links of the package to where its files are in Debian.
LINKS = ["LocalSettings.php", "config", "images", "extensions"]


def picture(number, size):
    """A PNG of one colour."""
    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    row = b"\0" + bytes([number * 20, 99, 7]) * size
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(row * size)) + chunk(b"IEND", b""))


class MediaWiki:
    def __init__(self):
        here = pathlib.Path.cwd()
        self.directory = here / "mediawiki"
        self.database = here / "wiki.sqlite"
        subprocess.run(["apt-get", "download", "mediawiki", "mediawiki-classes"], check=True,
                       capture_output=True)
        for package in here.glob("mediawiki*.deb"):
            subprocess.run(["dpkg", "-x", package, "debian"], check=True)
        shutil.copytree("debian/usr/share/mediawiki", self.directory, symlinks=True)
        for name in LINKS:
            (self.directory / name).unlink()
        for name in ("extensions", "images"):
            (self.directory / name).mkdir()
        self.run("install", "--dbtype", "sqlite", "--dbname", "wiki", "--dbpath", str(here),
                 "--confpath", str(self.directory), "--server", "http://localhost",
                 "--scriptpath", "/w", "--pass", "a long pass word", "Wiki", "Admin")
        with (self.directory / "LocalSettings.php").open("a") as settings:
            settings.write("\n$wgWatchlistExpiry = true;\n")

    def php(self, *command):
        done = subprocess.run(
            ["php", *command], cwd=self.directory, capture_output=True, text=True,
            env={**os.environ, "MW_INSTALL_PATH": str(self.directory)})
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-2000:])
        return done.stdout

    def run(self, script, *arguments):
        """A maintenance script of MediaWiki's."""
        return self.php(f"maintenance/{script}.php", *arguments)

    def fill(self):
        pathlib.Path("pictures").mkdir()
        for size in (4, 5):  # the second time over the first ones
            for number in range(1, 11):
                pathlib.Path(f"pictures/Picture {number}.png").write_bytes(picture(number, size))
            self.run("importImages", "--overwrite", "--user", "Admin", "--comment", "seen",
                     str(pathlib.Path("pictures").resolve()))
        self.php(str(FILL))
        self.run("runJobs")


# What MediaWiki's own description of its tables says, of the columns that have rows here.
REFERENCES = """
actor.actor_user user.user_id, archive.ar_comment_id comment.comment_id,
archive.ar_actor actor.actor_id, categorylinks.cl_from page.page_id,
change_tag.ct_rc_id recentchanges.rc_id, change_tag.ct_log_id logging.log_id,
change_tag.ct_rev_id revision.rev_id, change_tag.ct_tag_id change_tag_def.ctd_id,
content.content_model content_models.model_id, externallinks.el_from page.page_id,
filearchive.fa_deleted_user user.user_id, filearchive.fa_actor actor.actor_id,
filearchive.fa_description_id comment.comment_id,
filearchive.fa_deleted_reason_id comment.comment_id, image.img_description_id comment.comment_id,
image.img_actor actor.actor_id, imagelinks.il_from page.page_id, imagelinks.il_to image.img_name,
ip_changes.ipc_rev_id revision.rev_id, ipblocks.ipb_user user.user_id,
ipblocks.ipb_by_actor actor.actor_id, ipblocks.ipb_reason_id comment.comment_id,
ipblocks.ipb_parent_block_id ipblocks.ipb_id, iwlinks.iwl_from page.page_id,
log_search.ls_log_id logging.log_id, logging.log_actor actor.actor_id,
logging.log_comment_id comment.comment_id, logging.log_page page.page_id,
logging.log_page archive.ar_page_id, oldimage.oi_name image.img_name,
oldimage.oi_description_id comment.comment_id, oldimage.oi_actor actor.actor_id,
page.page_latest revision.rev_id, page_props.pp_page page.page_id,
page_restrictions.pr_page page.page_id, pagelinks.pl_from page.page_id,
recentchanges.rc_actor actor.actor_id, recentchanges.rc_comment_id comment.comment_id,
recentchanges.rc_cur_id page.page_id, recentchanges.rc_this_oldid revision.rev_id,
recentchanges.rc_last_oldid revision.rev_id, recentchanges.rc_logid logging.log_id,
redirect.rd_from page.page_id, revision.rev_page page.page_id, revision.rev_actor actor.actor_id,
revision.rev_parent_id revision.rev_id, revision_comment_temp.revcomment_rev revision.rev_id,
revision_comment_temp.revcomment_comment_id comment.comment_id,
slots.slot_revision_id revision.rev_id, slots.slot_revision_id archive.ar_rev_id,
slots.slot_origin revision.rev_id, slots.slot_origin archive.ar_rev_id,
slots.slot_role_id slot_roles.role_id, slots.slot_content_id content.content_id,
templatelinks.tl_from page.page_id, templatelinks.tl_target_id linktarget.lt_id,
user_groups.ug_user user.user_id, user_newtalk.user_id user.user_id,
user_properties.up_user user.user_id, watchlist.wl_user user.user_id,
watchlist_expiry.we_item watchlist.wl_id
"""


def references():
    """As (table, column, table, column)."""
    for one in REFERENCES.split(","):
        place, to = one.split()
        yield (*place.split("."), *to.split("."))
