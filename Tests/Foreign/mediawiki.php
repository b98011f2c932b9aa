<?php
/**
 * Fills a wiki by MediaWiki's own code: people, pages that link to each other, files, moves,
 * deletions. For `php`; MW_INSTALL_PATH is the directory of MediaWiki, and there is no argument.
 */
require getenv( 'MW_INSTALL_PATH' ) . '/maintenance/Maintenance.php';

class Fill extends Maintenance {
	private $services;
	private $admin;

	public function execute() {
		$this->services = MediaWiki\MediaWikiServices::getInstance();
		$this->admin = User::newSystemUser( 'Librarian', [ 'steal' => true ] );
		$people = array_map( [ $this, 'person' ], range( 1, 12 ) );
		$this->writePages( $people );
		$this->doWhatPeopleDo( $people );
		DeferredUpdates::doUpdates();
	}

	private function person( $number ) {
		$person = User::createNew( "Person $number", [ 'email' => "p$number@example.org" ] );
		$this->services->getUserGroupManager()->addUserToGroup(
			$person, [ 'sysop', 'bot', 'bureaucrat' ][$number % 3] );
		$options = $this->services->getUserOptionsManager();
		$options->setOption( $person, 'language', [ 'de', 'fr', 'nl' ][$number % 3] );
		$options->saveOptions( $person );
		return $person;
	}

	private function title( $name ) {
		return Title::newFromText( $name );
	}

	private function page( $name ) {
		return $this->services->getWikiPageFactory()->newFromTitle( $this->title( $name ) );
	}

	private function write( $name, $text, $user, $summary ) {
		$content = ContentHandler::makeContent( $text, $this->title( $name ) );
		$this->page( $name )->doUserEditContent( $content, $user, $summary );
		DeferredUpdates::doUpdates();
	}

	private function text( $page ) {
		$next = $page % 60 + 1;
		return "[[Page $next]] {{Box " . ( $page % 6 + 1 ) . "|$page}} [https://example.org/$page a]"
			. " [[File:Picture " . ( $page % 5 + 1 ) . ".png]] [[Category:Kind " . ( $page % 4 ) . "]]"
			. " {{DEFAULTSORT:$page}} [[wikipedia:Page]]\n";
	}

	private function writePages( $people ) {
		foreach ( range( 1, 6 ) as $number ) {
			$this->write( "Template:Box $number", "A box of {{{1}}} [[Category:Boxes]]",
				$people[$number], 'a box' );
		}
		foreach ( range( 1, 150 ) as $number ) {
			$page = $number * 7 % 60 + 1;
			$this->write( "Page $page", $this->text( $page ) . $number, $people[$number % 12],
				"edit $number" );
		}
		foreach ( range( 1, 8 ) as $number ) {
			$this->write( "Also $number", "#REDIRECT [[Page $number]]", $this->admin, 'redirect' );
			$this->write( "User talk:Person $number", "Hello", User::newFromName( "192.0.2.$number", false ),
				'hello' );
		}
	}

	private function doWhatPeopleDo( $people ) {
		$watch = $this->services->getWatchlistManager();
		foreach ( range( 1, 40 ) as $number ) {
			$watch->addWatch( $people[$number % 12], $this->title( "Page $number" ),
				$number % 4 ? null : '2099-01-01T00:00:00Z' );
		}
		foreach ( range( 20, 31 ) as $number ) {
			$this->page( "Page $number" )->doDeleteArticleReal( "no $number", $this->admin );
			DeferredUpdates::doUpdates();
		}
		foreach ( range( 40, 43 ) as $number ) {
			$this->services->getMovePageFactory()->newMovePage( $this->title( "Page $number" ),
				$this->title( "Moved $number" ) )->move( $this->admin, 'better', true );
			$cascade = false;
			$this->page( "Moved $number" )->doUpdateRestrictions( [ 'edit' => 'sysop' ],
				[ 'edit' => 'infinity' ], $cascade, 'keep', $this->admin );
		}
		foreach ( [ 3, 7 ] as $number ) {
			$this->services->getBlockUserFactory()->newBlockUser(
				$people[$number], $this->admin, 'infinity', "noise $number" )->placeBlockUnsafe();
		}
		$files = $this->services->getRepoGroup()->getLocalRepo();
		foreach ( [ 8, 9, 10 ] as $number ) {
			$files->newFile( $this->title( "File:Picture $number.png" ) )->deleteFile(
				"blurred $number", $this->admin );
		}
		foreach ( $this->getDB( DB_REPLICA )->selectFieldValues( 'revision', 'rev_id', [],
			__METHOD__, [ 'LIMIT' => 40 ] ) as $revision ) {
			ChangeTags::addTags( [ [ 'mw-undo', 'mw-replace' ][$revision % 2] ], null, $revision );
		}
	}
}

$maintClass = Fill::class;
require RUN_MAINTENANCE_IF_MAIN;
